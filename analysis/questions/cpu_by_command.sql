-- What does each command use? Over the time recorded: an absent command used nothing; intervals in which its time is unknown do not count.
-- section: Processors
WITH recorded AS (
  SELECT system, sum(interval_s) AS seconds
  FROM (SELECT system, ts, max(interval_s) AS interval_s FROM counterflow.manifest FINAL WHERE counted = 'job'
    AND ts > {since:DateTime64(3)} AND ts <= {until:DateTime64(3)} GROUP BY system, ts)
  GROUP BY system
)
SELECT
  system,
  command,
  round(sum(cpu_ms) / 1000, 1) AS cpu_s,
  round(sum(cpu_ms) / 1000 / nullIf(any(seconds) - sum(if(cpu_ms IS NULL, f.interval_s, 0)), 0), 3) AS processors_avg,
  any(cpu_base) AS processor_base,
  round(max(memory_mb), 1) AS memory_mb_max
FROM counterflow.footprint AS f
INNER JOIN recorded USING (system)
WHERE <chosen>
GROUP BY system, command
ORDER BY cpu_s DESC, system, command
LIMIT 10
