-- How does replication perform over the day (UTC)? Transactions a second, and the latency weighted by transactions.
-- section: Replication
SELECT
  r.system AS system,
  r.program_schema AS program_schema,
  r.queue AS queue,
  toHour(r.ts - 1) AS hour,
  round(sum(r.transactions) / nullIf(sumIf(r.interval_s, r.transactions IS NOT NULL), 0), 1) AS transactions_per_s_avg,
  round(max(r.transactions_per_s), 1) AS transactions_per_s_max,
  round(sum(r.end_to_end_ms * r.transactions)
    / nullIf(sumIf(r.transactions, r.end_to_end_ms IS NOT NULL), 0) / 1000, 2) AS end_to_end_s_avg,
  round(max(r.end_to_end_ms) / 1000, 2) AS end_to_end_s_max
FROM counterflow.replication_lag AS r
WHERE r.component = 'apply'
  AND <chosen r>
GROUP BY system, program_schema, queue, hour
ORDER BY system, program_schema, queue, hour
LIMIT 500
