-- Transactions that jobs of IBM i count themselves, all jobs of a system together, in the columns of `work_done`.
SELECT
  toUnixTimestamp64Milli(ts) / 1000 AS end_s,
  max(interval_s) AS seconds,
  system,
  'jobs' AS workload, '' AS run_id, 'transactions' AS unit_of_work, '' AS operation,
  sum(transactions) AS units,
  NULL AS users,
  1000 * sum(response_s) / nullIf(sum(timed_transactions), 0) AS response_ms,
  NULL AS response_p95_ms, NULL AS response_p99_ms
FROM counterflow.job_by(grouping = 'thread')
WHERE transactions IS NOT NULL AND ts > {from:DateTime64(3)} AND ts <= {to:DateTime64(3)}
  AND has({systems:Array(String)}, system)
GROUP BY system, ts
ORDER BY end_s
