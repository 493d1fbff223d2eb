CREATE TABLE IF NOT EXISTS counterflow.replication_lag {on_cluster}
(
  `ts` DateTime64(3, 'UTC') COMMENT 'End of the interval, UTC.' CODEC(Delta, ZSTD(1)),
  `interval_s` Nullable(Float64) COMMENT 'Length of the interval. [s; gauge; null: the inputs give no length]' CODEC(ZSTD(1)),
  `system` LowCardinality(String) COMMENT 'Name of the system.' CODEC(ZSTD(1)),
  `n` UInt64 COMMENT 'Distinct input rows the result is made of; less than the manifest\'s rows means provisional. [rows; gauge]' CODEC(T64, ZSTD(1)),
  `component` LowCardinality(String) COMMENT 'Who reports: Q Apply by receive queue, Q Capture, Q Capture by send queue.' CODEC(ZSTD(1)),
  `queue` LowCardinality(String) COMMENT 'Receive queue (apply), send queue (capture_queue); empty for capture.' CODEC(ZSTD(1)),
  `program_schema` LowCardinality(Nullable(String)) COMMENT 'Schema of the control tables. [null: not reported]' CODEC(ZSTD(1)),
  `idle` Nullable(Bool) COMMENT 'Nothing was replicated in the interval: there is no latency to tell, and the age of the log is not lag. [null: not known]' CODEC(ZSTD(1)),
  `missing` LowCardinality(Nullable(String)) COMMENT 'Why the latency is null: `idle`, `latencies`, `log time`. [null: nothing is missing]' CODEC(ZSTD(1)),
  `end_to_end_ms` Nullable(Float64) COMMENT 'Commit at the source to commit at the target, mean of the transactions of the interval. [ms; gauge; null: not apply, idle, or not reported]' CODEC(ZSTD(1)),
  `capture_ms` Nullable(Float64) COMMENT 'Part of end_to_end_ms before the queue; below 0 only by the rounding of its terms or where clocks differ. [ms; gauge; null: one of the three others unknown]' CODEC(ZSTD(1)),
  `queue_ms` Nullable(Float64) COMMENT 'Part of end_to_end_ms on the queue. [ms; gauge; null: not apply, idle, or not reported]' CODEC(ZSTD(1)),
  `apply_ms` Nullable(Float64) COMMENT 'Part of end_to_end_ms in Q Apply. [ms; gauge; null: not apply, idle, or not reported]' CODEC(ZSTD(1)),
  `transactions` Nullable(Float64) COMMENT 'Transactions applied: the weight of the latencies over a period. [transactions; delta; null: not apply or not reported]' CODEC(ZSTD(1)),
  `row_count` Nullable(Float64) COMMENT 'Rows applied (apply) or published (capture_queue). [rows; delta; null: not reported]' CODEC(ZSTD(1)),
  `transactions_per_s` Nullable(Float64) COMMENT 'Transactions applied a second. [transactions/s; rate; null: not apply or not reported]' CODEC(ZSTD(1)),
  `rows_per_s` Nullable(Float64) COMMENT 'Rows applied or published a second. [rows/s; rate; null: not reported]' CODEC(ZSTD(1)),
  `rows_per_transaction` Nullable(Float64) COMMENT 'Rows that a transaction applied. [rows; gauge; null: no transactions or not reported]' CODEC(ZSTD(1)),
  `log_latency_s` Nullable(Float64) COMMENT 'How far Capture was behind the end of the log. [s; gauge; null: not capture, idle, or not reported]' CODEC(ZSTD(1)),
  `queue_depth` Nullable(Float64) COMMENT 'Messages on the queue; for capture_queue on its transmission queue. [messages; gauge; null: not reported]' CODEC(ZSTD(1)),
  `queue_full_pct` Nullable(Float64) COMMENT 'How full the queue is. [%; percent; null: not reported]' CODEC(ZSTD(1)),
  landed_at DateTime('UTC') MATERIALIZED now() COMMENT 'When the row was inserted, UTC; not in SELECT *.' CODEC(Delta, ZSTD(1)),
  CONSTRAINT ts_sane CHECK ts >= '2000-01-01'
)
ENGINE = {engine_prefix}ReplacingMergeTree(n)
PARTITION BY toYYYYMMDD(ts)
ORDER BY (system, component, queue, ts)
TTL landed_at + INTERVAL 400 DAY
SETTINGS non_replicated_deduplication_window = 10000, replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800, ttl_only_drop_parts = 1, min_bytes_for_wide_part = 134217728
COMMENT 'How far one queue, or Capture, of Q Replication was behind over one monitor interval.';
