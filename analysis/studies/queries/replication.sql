-- What each receive queue applied and how late, and how far Capture was behind the log, a row per monitor interval.
SELECT
  toUnixTimestamp64Milli(ts) / 1000 AS end_s,
  interval_s AS seconds,
  system, component, queue, end_to_end_ms, capture_ms, queue_ms, apply_ms, row_count, transactions, log_latency_s
FROM counterflow.replication_lag
WHERE component IN ('apply', 'capture') AND ts > {from:DateTime64(3)} AND ts <= {to:DateTime64(3)} AND has({systems:Array(String)}, system)
ORDER BY end_s
