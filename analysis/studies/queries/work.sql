-- The work of each workload, a row per interval; a closing summary of a whole run is `final`.
SELECT
  toUnixTimestamp64Milli(ts) / 1000 AS end_s,
  if(prev_ts IS NULL, interval_s, end_s - toUnixTimestamp64Milli(assumeNotNull(prev_ts)) / 1000) AS seconds,
  system, workload, run_id, unit_of_work, operation,
  if(prev_done IS NULL, done_delta, done - prev_done) AS units,
  done_per_s, users, response_ms, response_p95_ms, response_p99_ms,
  ifNull(final, false) AS final
FROM counterflow.workload FINAL
WHERE ts > {from:DateTime64(3)} AND ts <= {to:DateTime64(3)} AND has({systems:Array(String)}, system)
ORDER BY end_s
