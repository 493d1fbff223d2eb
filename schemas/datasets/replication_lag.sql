-- capture    end-to-end - queue - apply: the part that no monitor table has.
-- log        time of the row - time up to which Capture has read the log. On an idle source that time stands still, and
--            its age is not lag. Capture is idle where it reached the end of the log in the interval (NUM_END_OF_LOGS,
--            or LOGRDR_SLEEPTIME above 0: it then slept) and yet has read the log only up to a time before the
--            interval.
-- idle       of a queue: nothing was applied or published in the interval.
SELECT
  ts, interval_s, system, component, queue, program_schema, idle,
  multiIf(
    component = 'capture_queue', NULL,
    idle, 'idle',
    component = 'apply' AND isNull(r.end_to_end_ms + r.queue_ms + r.apply_ms), 'latencies',
    component = 'capture' AND isNull(log_age_s), 'log time',
    NULL
  ) AS missing,
  if(moves, r.end_to_end_ms, NULL) AS end_to_end_ms,
  if(moves, r.end_to_end_ms - r.queue_ms - r.apply_ms, NULL) AS capture_ms,
  if(moves, r.queue_ms, NULL) AS queue_ms,
  if(moves, r.apply_ms, NULL) AS apply_ms,
  transactions_applied AS transactions,
  row_count,
  transactions_applied / nullIf(interval_s, 0) AS transactions_per_s,
  row_count / nullIf(interval_s, 0) AS rows_per_s,
  if(component = 'apply', row_count / nullIf(transactions_applied, 0), NULL) AS rows_per_transaction,
  if(moves, log_age_s, NULL) AS log_latency_s,
  queue_depth, queue_full_pct
FROM
(
  SELECT
    *,
    multiIf(component = 'apply', rows_applied, component = 'capture_queue', rows_published, NULL) AS row_count,
    (toUnixTimestamp64Milli(ts) - toUnixTimestamp64Milli(current_log_at)) / 1000 AS log_age_s,
    multiIf(
      component = 'apply', ifNull(transactions_applied, row_count) = 0,
      component = 'capture_queue', row_count = 0,
      ifNull(ends_of_log, log_reader_sleep_ms) > 0 AND log_age_s > nullIf(interval_s, 0)
    )::Nullable(Bool) AS idle,
    ifNull(NOT idle, true) AS moves
  FROM counterflow.replication FINAL
) AS r
