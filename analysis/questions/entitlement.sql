-- Which shared partitions use more than they are entitled to, and for how long? Cores consumed against entitled cores.
-- section: Processors
SELECT
  system,
  countIf(consumed_cores > entitled_cores) AS intervals_above,
  count() AS intervals,
  round(100 * sum(interval_s * (consumed_cores > entitled_cores)) / nullIf(sum(interval_s), 0), 1) AS time_above_pct,
  round(max(entitled_pct), 1) AS of_entitled_pct_max,
  round(max(consumed_cores), 2) AS cores_max,
  argMax(entitled_cores, ts) AS entitled_cores_now
FROM counterflow.processor_load
WHERE consumed_cores IS NOT NULL AND entitled_cores IS NOT NULL
  AND <chosen>
GROUP BY system
ORDER BY time_above_pct DESC, system
LIMIT 50
