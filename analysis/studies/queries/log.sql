-- The log of each Db2 subsystem, a row per interval.
SELECT
  toUnixTimestamp64Milli(ts) / 1000 AS end_s,
  interval_s AS seconds,
  system, subsystem, rate_mb_s, rate_basis, waits_delta, waiting_threads, zhl_sync_pct
FROM counterflow.log_load FINAL
WHERE ts > {from:DateTime64(3)} AND ts <= {to:DateTime64(3)} AND has({systems:Array(String)}, system)
ORDER BY end_s
