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
of_runs AS (
  SELECT counted.*, if(r.end_ts IS NULL OR ts <= r.end_ts, r.run, '') AS run
  FROM counted
  ASOF LEFT JOIN counterflow.run_span AS r ON r.system = counted.system AND counted.ts > r.begin_ts
),
recorded AS (
  SELECT m.system AS system, m.ts AS ts, max(m.interval_s) AS seconds
  FROM counterflow.manifest AS m FINAL
  WHERE m.counted = 'job' AND m.ts > {since:DateTime64(3)} AND m.ts <= {until:DateTime64(3)}
  GROUP BY system, ts
),
-- units and processes may be recorded at different intervals: of both count those that end while the other is known
done AS (
  SELECT o.system AS system, o.per AS per, o.run AS run, sum(o.units) AS units, min(o.ts) AS first
  FROM of_runs AS o
  ASOF INNER JOIN recorded AS r ON r.system = o.system AND r.ts >= o.ts
  WHERE o.ts > r.ts - toIntervalMillisecond(round(r.seconds * 1000))
  GROUP BY system, per, run
),
spent AS (
  SELECT r.system AS system, r.ts AS ts, r.seconds AS seconds, o.per AS per, o.run AS run
  FROM (SELECT * FROM recorded INNER JOIN (SELECT DISTINCT system, per FROM of_runs) AS named USING (system)) AS r
  ASOF INNER JOIN of_runs AS o ON o.system = r.system AND o.per = r.per AND o.ts >= r.ts
  WHERE r.ts > o.ts - toIntervalMillisecond(round(o.interval_s * 1000))
),
lasted AS (SELECT system, per, run, sum(seconds) AS seconds FROM spent GROUP BY system, per, run)
SELECT
  c.system AS system,
  nullIf(done.run, '') AS run,
  done.per AS per,
  c.component AS component,
  round(sum(c.cpu_ms) / nullIf(any(done.units), 0), 4) AS cpu_ms_a_unit,
  round(sum(c.cpu_ms) / 1000 / nullIf(any(lasted.seconds), 0), 3) AS processors_avg,
  c.cpu_base AS processor_base,
  round(sum(c.memory_mb * c.interval_s) / nullIf(sumIf(c.interval_s, c.memory_mb IS NOT NULL), 0), 1) AS memory_mb_when_present,
  round(any(done.units)) AS units
FROM counterflow.component_footprint AS c
INNER JOIN spent ON spent.system = c.system AND spent.ts = c.ts
INNER JOIN done ON done.system = c.system AND done.per = spent.per AND done.run = spent.run
INNER JOIN lasted ON lasted.system = c.system AND lasted.per = spent.per AND lasted.run = spent.run
WHERE empty({systems:Array(String)}) OR has({systems:Array(String)}, c.system)
GROUP BY system, done.run, done.first, per, component, processor_base
ORDER BY system, done.first, per, cpu_ms_a_unit DESC, component
LIMIT 60
