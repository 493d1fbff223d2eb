-- Whose is the processor time, by accounting code? Seconds, cores on average, and the share of the partition.
-- section: Processors
WITH whole AS (
  SELECT system, sum(cpu_ms) AS all_ms, sum(interval_s) AS recorded_s
  FROM counterflow.job_cpu
  WHERE grouping = 'partition'
    AND (empty({systems:Array(String)}) OR has({systems:Array(String)}, system))
    AND ts > {since:DateTime64(3)} AND ts <= {until:DateTime64(3)}
  GROUP BY system
)
SELECT
  c.system AS system,
  c.name AS accounting_code,
  round(sum(c.cpu_ms) / 1000, 1) AS cpu_s,
  round(sum(c.cpu_ms) / 1000 / nullIf(any(whole.recorded_s), 0), 3) AS cores_avg,
  round(100 * sum(c.cpu_ms) / nullIf(any(whole.all_ms), 0), 1) AS share_pct
FROM (SELECT * FROM counterflow.job_cpu WHERE grouping = 'accounting_code'
  AND (empty({systems:Array(String)}) OR has({systems:Array(String)}, system)) AND ts > {since:DateTime64(3)}
  AND ts <= {until:DateTime64(3)}) AS c
INNER JOIN whole ON whole.system = c.system
GROUP BY system, accounting_code
ORDER BY system, cpu_s DESC, accounting_code
LIMIT 20 BY system
