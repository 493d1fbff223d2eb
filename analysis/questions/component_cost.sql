-- What do Q Capture, Q Apply, MQ and Db2 use for one transaction of each run? Of the workload at the source, of those applied at the target.
-- section: Replication
WITH counted AS (
  -- a unit of work of a driver and a commit at the target are not the same: each cost is of the one that it names
  SELECT system, concat(unit_of_work, ' of ', workload) AS per, accounts AS units, interval_s, ts
  FROM counterflow.account_cpu FINAL
  WHERE basis = 'lpar' AND accounts IS NOT NULL AND ts > {since:DateTime64(3)} AND ts <= {until:DateTime64(3)}
  UNION ALL
  SELECT system, 'transactions applied' AS per, transactions AS units, interval_s, ts
  FROM counterflow.replication_lag
  WHERE component = 'apply' AND transactions IS NOT NULL AND ts > {since:DateTime64(3)} AND ts <= {until:DateTime64(3)}
),
done AS (
  SELECT system, per, if(r.end_ts IS NULL OR ts <= r.end_ts, r.run, '') AS run, sum(units) AS units,
         min(ts - toIntervalMillisecond(round(interval_s * 1000))) AS begins, max(ts) AS ends
  FROM counted
  ASOF LEFT JOIN counterflow.run_span AS r ON r.system = counted.system AND counted.ts > r.begin_ts
  GROUP BY system, per, run
),
recorded AS (
  SELECT m.system AS system, per, run, sum(m.interval_s) AS seconds
  FROM (SELECT system, ts, max(interval_s) AS interval_s FROM counterflow.manifest FINAL WHERE counted = 'job' GROUP BY system, ts) AS m
  INNER JOIN done USING (system)
  WHERE m.ts > begins AND m.ts <= ends
  GROUP BY system, per, run
)
SELECT
  c.system AS system,
  nullIf(done.run, '') AS run,
  done.per AS per,
  c.component AS component,
  round(sum(c.cpu_ms) / nullIf(any(done.units), 0), 4) AS cpu_ms_a_unit,
  round(sum(c.cpu_ms) / 1000 / nullIf(any(recorded.seconds), 0), 3) AS processors_avg,
  c.cpu_base AS processor_base,
  round(sum(c.memory_mb * c.interval_s) / nullIf(sumIf(c.interval_s, c.memory_mb IS NOT NULL), 0), 1) AS memory_mb_when_present,
  round(any(done.units)) AS units
FROM counterflow.component_footprint AS c
INNER JOIN done ON done.system = c.system
INNER JOIN recorded ON recorded.system = c.system AND recorded.per = done.per AND recorded.run = done.run
WHERE c.ts > done.begins AND c.ts <= done.ends
  AND (empty({systems:Array(String)}) OR has({systems:Array(String)}, c.system))
GROUP BY system, done.run, done.begins, per, component, processor_base
ORDER BY system, done.begins, per, cpu_ms_a_unit DESC, component
LIMIT 60
