-- Which results are still made of fewer rows than were published? They wait, or are computed again: counterflow jobs rerun.
-- section: Data and pipeline
SELECT
  p.dataset AS dataset,
  p.system AS system,
  count() AS intervals,
  countIf(p.n = 0) AS intervals_without_result,
  sum(p.row_count) - sum(p.n) AS rows_lacking,
  min(p.ts) AS first_ts,
  max(p.ts) AS last_ts
FROM counterflow.provisional AS p
WHERE <chosen p>
GROUP BY dataset, system
ORDER BY rows_lacking DESC, dataset, system
LIMIT 100
