-- What does one unit of work of each workload cost? Each run and each basis separately; costs weighted by the units of work.
-- section: Work and cost
SELECT
  system,
  workload,
  nullIf(run, '') AS run,
  basis,
  any(unit_of_work) AS unit_of_work,
  round(sumIf(accounts, missing IS NULL)) AS units,
  round(3600 * sumIf(accounts, missing IS NULL) / nullIf(sumIf(interval_s, missing IS NULL), 0)) AS units_per_hour,
  round(sum(gcp_ms_per_account * accounts) / nullIf(sumIf(accounts, gcp_ms_per_account IS NOT NULL), 0), 4) AS gcp_ms,
  round(sum(ziip_ms_per_account * accounts) / nullIf(sumIf(accounts, ziip_ms_per_account IS NOT NULL), 0), 4) AS ziip_ms,
  round(sum(ziip_on_cp_ms_per_account * accounts)
    / nullIf(sumIf(accounts, ziip_on_cp_ms_per_account IS NOT NULL), 0), 4) AS ziip_on_cp_ms,
  round(sum(core_ms_per_account * accounts) / nullIf(sumIf(accounts, core_ms_per_account IS NOT NULL), 0), 4) AS core_ms,
  any(core_base) AS core_base,
  round(sum(log_bytes_per_account * accounts) / nullIf(sumIf(accounts, log_bytes_per_account IS NOT NULL), 0)) AS log_bytes,
  round(argMaxIf(batch_units, ts, batch_units IS NOT NULL) / nullIf(units_per_hour, 0), 2) AS batch_h,
  countIf(missing IS NOT NULL) AS intervals_without
FROM (
  SELECT a.*, if(r.end_ts IS NULL OR a.ts <= r.end_ts, r.run, '') AS run
  FROM (SELECT * FROM counterflow.account_cpu FINAL) AS a
  ASOF LEFT JOIN counterflow.run_span AS r ON r.system = a.system AND a.ts > r.begin_ts
)
WHERE <chosen>
GROUP BY system, workload, run, basis
ORDER BY system, workload, min(ts), basis DESC
LIMIT 40
