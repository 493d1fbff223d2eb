-- How far behind is the target?
--
-- One row per queue and monitor interval, and one of Q Capture. Stateless: each row suffices for its result, and one
-- that arrives again gives the same result again.
--
-- capture    end-to-end - queue - apply: the part that no monitor table has. The three are means of the transactions of
--            the interval: over a period weight them by `transactions` (docs/kpis/replication-lag.md).
-- log        time of the row - time up to which Capture has read the log. On an idle source that time stands still, and
--            its age is not lag. Capture is idle where it reached the end of the log in the interval (NUM_END_OF_LOGS,
--            or LOGRDR_SLEEPTIME above 0: it then slept) and yet has read the log only up to a time before the
--            interval.
-- idle       of a queue: nothing was applied or published in the interval.
--
-- Sources: schemas/datasets/replication.yaml.

CREATE TEMPORARY VIEW monitored AS
SELECT
  ts, interval_s, NULLIF(interval_s, 0) AS length_s, `system`, component, queue, program_schema, queue_depth,
  queue_full_pct, transactions_applied, end_to_end_ms, queue_ms, apply_ms,
  CASE component WHEN 'apply' THEN rows_applied WHEN 'capture_queue' THEN rows_published END AS row_count,
  EXTRACT(EPOCH FROM ts) - EXTRACT(EPOCH FROM current_log_at)
    + (EXTRACT(MILLISECOND FROM ts) - EXTRACT(MILLISECOND FROM current_log_at)) / 1000e0 AS log_age_s,
  ends_of_log, log_reader_sleep_ms
FROM replication;

CREATE TEMPORARY VIEW stated AS
SELECT
  *,
  CASE component
    WHEN 'apply' THEN COALESCE(transactions_applied, row_count) = 0
    WHEN 'capture_queue' THEN row_count = 0
    ELSE COALESCE(ends_of_log, log_reader_sleep_ms) > 0 AND log_age_s > length_s
  END AS idle
FROM monitored;

INSERT INTO replication_lag (
  ts, interval_s, `system`, n, component, queue, program_schema, idle, missing,
  end_to_end_ms, capture_ms, queue_ms, apply_ms, transactions, row_count, transactions_per_s, rows_per_s,
  rows_per_transaction, log_latency_s, queue_depth, queue_full_pct
)
SELECT
  ts, interval_s, `system`, 1, component, queue, program_schema, idle,
  CASE
    WHEN component = 'capture_queue' THEN CAST(NULL AS STRING)
    WHEN idle THEN 'idle'
    WHEN component = 'apply' AND end_to_end_ms + queue_ms + apply_ms IS NULL THEN 'latencies'
    WHEN component = 'capture' AND log_age_s IS NULL THEN 'log time'
  END,
  CASE WHEN idle IS NOT TRUE THEN end_to_end_ms END,
  CASE WHEN idle IS NOT TRUE THEN end_to_end_ms - queue_ms - apply_ms END,
  CASE WHEN idle IS NOT TRUE THEN queue_ms END,
  CASE WHEN idle IS NOT TRUE THEN apply_ms END,
  transactions_applied, row_count, transactions_applied / length_s, row_count / length_s,
  CASE WHEN component = 'apply' THEN row_count / NULLIF(transactions_applied, 0) END,
  CASE WHEN idle IS NOT TRUE THEN log_age_s END,
  queue_depth, queue_full_pct
FROM stated;
