-- What did one unit of work cost before and after `--from`? A change of the log per unit of more than 5 % is another workload.
-- section: Work and cost
SELECT
  a.system AS system,
  a.workload AS workload,
  a.basis AS basis,
  if(a.ts <= {since:DateTime64(3)}, 'before', 'after') AS period,
  round(sum(a.accounts)) AS units,
  round(sum(a.gcp_ms_per_account * a.accounts) / nullIf(sumIf(a.accounts, a.gcp_ms_per_account IS NOT NULL), 0), 4) AS gcp_ms_a_unit,
  round(sum(a.ziip_ms_per_account * a.accounts) / nullIf(sumIf(a.accounts, a.ziip_ms_per_account IS NOT NULL), 0), 4) AS ziip_ms_a_unit,
  round(sum(a.core_ms_per_account * a.accounts) / nullIf(sumIf(a.accounts, a.core_ms_per_account IS NOT NULL), 0), 4) AS core_ms_a_unit,
  round(sum(a.log_bytes_per_account * a.accounts)
    / nullIf(sumIf(a.accounts, a.log_bytes_per_account IS NOT NULL), 0)) AS log_bytes_a_unit
FROM counterflow.account_cpu AS a FINAL
WHERE a.missing IS NULL AND a.ts <= {until:DateTime64(3)} AND (empty({systems:Array(String)}) OR has({systems:Array(String)}, a.system))
GROUP BY system, workload, basis, period
ORDER BY system, workload, basis DESC, period DESC
LIMIT 100
