-- How fast did a workload answer? Means weighted by what was done; of percentiles the worst interval, since they have no average.
-- section: Work and cost
SELECT
  w.system AS system,
  w.workload AS workload,
  w.run_id AS run_id,
  w.operation AS operation,
  any(w.unit_of_work) AS unit_of_work,
  sum(w.units) AS done_total,
  round(sum(w.response_ms * w.units) / nullIf(sumIf(w.units, w.response_ms IS NOT NULL), 0), 3) AS response_ms_avg,
  round(max(w.response_p95_ms), 3) AS worst_p95_ms,
  round(max(w.response_max_ms), 3) AS response_ms_max,
  max(w.failed) AS failed_total
FROM counterflow.work_done AS w
WHERE <chosen w>
GROUP BY system, workload, run_id, operation
ORDER BY system, workload, run_id, operation
LIMIT 100
