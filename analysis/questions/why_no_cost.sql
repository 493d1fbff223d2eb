-- Why is there no cost for some intervals? The reasons, and the time that each covers.
-- section: Work and cost
SELECT
  a.system AS system,
  a.workload AS workload,
  a.basis AS basis,
  coalesce(a.missing, 'nothing, the cost is known') AS missing_input,
  count() AS intervals,
  round(sum(a.interval_s) / 60, 1) AS minutes,
  max(a.ts) AS last_seen
FROM counterflow.account_cpu AS a FINAL
WHERE <chosen a>
GROUP BY system, workload, basis, missing_input
ORDER BY system, workload, basis DESC, intervals DESC
LIMIT 100
