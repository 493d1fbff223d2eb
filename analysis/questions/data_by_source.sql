-- What does each system send, from which source, how often? Rows by dataset, and the usual length of an interval.
-- section: Data and pipeline
SELECT
  m.system AS system,
  m.source AS source,
  m.dataset AS dataset,
  sum(m.row_count) AS rows_total,
  count() AS intervals,
  round(quantileExact(m.interval_s), 1) AS interval_s_median,
  min(m.ts) AS first_interval_end,
  max(m.ts) AS last_interval_end
FROM counterflow.recorded AS m
WHERE <chosen m>
GROUP BY system, source, dataset
ORDER BY system, source, dataset
LIMIT 200
