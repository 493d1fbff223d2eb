-- Which queue of Q Replication lags most, when, and in which part? The worst interval of each queue.
-- section: Replication
WITH argMax(
  -- a tuple, so that all of it is of one interval: argMax by itself leaves out intervals where its first argument is null
  (r.ts, r.capture_ms, r.queue_ms, r.apply_ms, r.queue_depth, r.transactions_per_s), assumeNotNull(r.end_to_end_ms)
) AS worst
SELECT
  r.system AS system,
  r.program_schema AS program_schema,
  r.queue AS queue,
  round(max(r.end_to_end_ms) / 1000, 2) AS end_to_end_s_max,
  worst.1 AS worst_at,
  round(worst.2 / 1000, 2) AS capture_s_then,
  round(worst.3 / 1000, 2) AS queue_s_then,
  round(worst.4 / 1000, 2) AS apply_s_then,
  worst.5 AS queue_depth_then,
  round(worst.6, 1) AS transactions_per_s_then
FROM counterflow.replication_lag AS r
WHERE r.component = 'apply' AND r.end_to_end_ms IS NOT NULL
  AND <chosen r>
GROUP BY system, program_schema, queue
ORDER BY end_to_end_s_max DESC, system, program_schema, queue
LIMIT 20
