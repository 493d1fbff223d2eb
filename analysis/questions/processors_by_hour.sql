-- At which hour of the day (UTC) are the processors busy? Mean by time, and the busiest interval.
-- section: Processors
SELECT
  l.system AS system,
  l.engine_type AS engine_type,
  toHour(l.ts - 1) AS hour,
  round(sum(l.busy_pct * l.interval_s) / nullIf(sumIf(l.interval_s, l.busy_pct IS NOT NULL), 0), 1) AS busy_pct_avg,
  round(max(l.busy_pct), 1) AS busy_pct_max,
  round(sum(l.processors * l.interval_s) / nullIf(sumIf(l.interval_s, l.processors IS NOT NULL), 0), 2) AS processors_avg,
  round(max(l.processors), 2) AS processors_max
FROM counterflow.processor_load AS l
WHERE <chosen l>
GROUP BY system, engine_type, hour
ORDER BY system, engine_type, hour
LIMIT 500
