-- The system whose processors were the busiest, on average over what was measured, and in its busiest interval.
SELECT system, sum(busy_pct * interval_s) / sum(interval_s) AS mean_pct, max(busy_pct) AS most_pct
FROM (
  SELECT system, busy_pct, interval_s FROM counterflow.processor_load
  WHERE $__timeFilter(ts) AND system IN (${system:singlequote}) AND engine_type != 'ziip' AND busy_pct IS NOT NULL
)
GROUP BY system
ORDER BY mean_pct DESC, system
LIMIT 1
