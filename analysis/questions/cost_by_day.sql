-- How does the cost of one unit of work develop from day to day (UTC)? Costs weighted by the units of work.
-- section: Work and cost
SELECT
  a.system AS system,
  a.workload AS workload,
  a.basis AS basis,
  toDate(a.ts - 1) AS day,
  round(sum(a.accounts)) AS units,
  round(sum(a.gcp_ms_per_account * a.accounts) / nullIf(sumIf(a.accounts, a.gcp_ms_per_account IS NOT NULL), 0), 4) AS gcp_ms_a_unit,
  round(sum(a.ziip_ms_per_account * a.accounts) / nullIf(sumIf(a.accounts, a.ziip_ms_per_account IS NOT NULL), 0), 4) AS ziip_ms_a_unit,
  round(sum(a.core_ms_per_account * a.accounts) / nullIf(sumIf(a.accounts, a.core_ms_per_account IS NOT NULL), 0), 4) AS core_ms_a_unit
FROM counterflow.account_cpu AS a FINAL
WHERE a.missing IS NULL
  AND <chosen a>
GROUP BY system, workload, basis, day
ORDER BY system, workload, basis DESC, day DESC
LIMIT 200
