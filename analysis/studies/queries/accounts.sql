-- The captured processor time of a unit of work, and the batch that it is part of, a row per interval.
SELECT
  toUnixTimestamp64Milli(ts) / 1000 AS end_s,
  interval_s AS seconds,
  system, workload, basis, accounts, gcp_ms_per_account, ziip_ms_per_account, ziip_on_cp_ms_per_account, batch_units
FROM counterflow.account_cpu FINAL
WHERE ts > {from:DateTime64(3)} AND ts <= {to:DateTime64(3)} AND has({systems:Array(String)}, system)
ORDER BY end_s
