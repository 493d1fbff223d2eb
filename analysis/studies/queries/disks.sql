-- All leaf disks of each system together, a row per interval.
SELECT
  toUnixTimestamp64Milli(ts) / 1000 AS end_s,
  interval_s AS seconds,
  system, read_mb, written_mb, transfers_per_s, response_ms, busy_pct
FROM counterflow.disk_total
WHERE ts > {from:DateTime64(3)} AND ts <= {to:DateTime64(3)} AND has({systems:Array(String)}, system)
ORDER BY end_s
