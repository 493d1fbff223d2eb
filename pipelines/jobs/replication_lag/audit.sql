-- The results of replication_lag, from the definitions in schemas/datasets/replication_lag.yaml and docs/kpis/replication-lag.md.
WITH
  monitored AS
  (
    SELECT
      *, r.landed_at AS at, nullIf(r.interval_s, 0) AS seconds,
      if(component = 'apply', rows_applied, if(component = 'capture_queue', rows_published, NULL)) AS moved,
      (toUnixTimestamp64Milli(ts) - toUnixTimestamp64Milli(current_log_at)) / 1000 AS log_age_s,
      multiIf(
        component = 'apply', ifNull(transactions_applied, moved) = 0,
        component = 'capture_queue', moved = 0,
        ifNull(ends_of_log, log_reader_sleep_ms) > 0 AND log_age_s > seconds
      ) AS still,
      ifNull(still, 0) = 0 AS moves
    FROM counterflow.replication AS r FINAL
    WHERE ts >= {from:DateTime64(3, 'UTC')} AND ts < {to:DateTime64(3, 'UTC')}
  )
SELECT
  system, component, queue, ts, toUInt64(1) AS n, at AS landed_at, m.interval_s AS interval_s, m.program_schema AS program_schema,
  still AS idle,
  multiIf(
    component = 'capture_queue', NULL,
    still, 'idle',
    component = 'apply' AND isNull(m.end_to_end_ms + m.queue_ms + m.apply_ms), 'latencies',
    component = 'capture' AND isNull(log_age_s), 'log time',
    NULL
  ) AS missing,
  if(moves, m.end_to_end_ms, NULL) AS end_to_end_ms,
  if(moves, m.end_to_end_ms - m.queue_ms - m.apply_ms, NULL) AS capture_ms,
  if(moves, m.queue_ms, NULL) AS queue_ms,
  if(moves, m.apply_ms, NULL) AS apply_ms,
  transactions_applied AS transactions,
  moved AS row_count,
  transactions_applied / seconds AS transactions_per_s,
  moved / seconds AS rows_per_s,
  if(component = 'apply', moved / nullIf(transactions_applied, 0), NULL) AS rows_per_transaction,
  if(moves, log_age_s, NULL) AS log_latency_s,
  m.queue_depth AS queue_depth,
  m.queue_full_pct AS queue_full_pct
FROM monitored AS m
