-- How far behind is the target of Q Replication? Latencies weighted by transactions; idle intervals have none.
-- section: Replication
SELECT
  system,
  component,
  program_schema,
  queue,
  round(sum(row_count) / nullIf(sumIf(interval_s, row_count IS NOT NULL), 0), 1) AS rows_s,
  round(sum(transactions) / nullIf(sumIf(interval_s, transactions IS NOT NULL), 0), 1) AS trans_s,
  round(sum(end_to_end_ms * transactions) / nullIf(sumIf(transactions, end_to_end_ms IS NOT NULL), 0) / 1000, 2) AS end_to_end_s,
  round(sum(capture_ms * transactions) / nullIf(sumIf(transactions, capture_ms IS NOT NULL), 0) / 1000, 2) AS capture_s,
  round(sum(queue_ms * transactions) / nullIf(sumIf(transactions, queue_ms IS NOT NULL), 0) / 1000, 2) AS queue_s,
  round(sum(apply_ms * transactions) / nullIf(sumIf(transactions, apply_ms IS NOT NULL), 0) / 1000, 2) AS apply_s,
  round(max(end_to_end_ms) / 1000, 2) AS end_to_end_s_max,
  round(max(log_latency_s), 1) AS log_latency_s_max,
  max(queue_depth) AS queue_depth_max,
  countIf(idle) AS idle_intervals
FROM counterflow.replication_lag
WHERE <chosen>
GROUP BY system, component, program_schema, queue
ORDER BY system, component, program_schema, queue
LIMIT 40
