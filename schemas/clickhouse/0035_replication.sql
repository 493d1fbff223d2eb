CREATE TABLE IF NOT EXISTS counterflow.replication {on_cluster}
(
  `ts` DateTime64(3, 'UTC') COMMENT 'End of the interval, UTC.' CODEC(Delta, ZSTD(1)),
  `interval_s` Nullable(Float64) COMMENT 'Length of the interval that the row covers. [s; gauge; null: the row describes no interval or its length is unknown]' CODEC(ZSTD(1)),
  `system` LowCardinality(String) COMMENT 'Name of the system the counters belong to.' CODEC(ZSTD(1)),
  `source` LowCardinality(String) COMMENT 'Format that the row was read from.' CODEC(ZSTD(1)),
  `agent_id` LowCardinality(String) COMMENT 'Agent that published the row; also its Kafka transactional.id.' CODEC(ZSTD(1)),
  `seq` UInt64 COMMENT 'Number of the record within its agent, contiguous over all datasets and restarts: a gap is a loss, a repeat a duplicate. [records; cumulative]' CODEC(Delta, ZSTD(1)),
  `boot_id` LowCardinality(Nullable(String)) COMMENT 'Run of the recorder, or boot of the system, that the counters belong to; cumulative counters compare only within one. [null: the source names no run]' CODEC(ZSTD(1)),
  `collected_at` DateTime64(3, 'UTC') COMMENT 'When the agent read the row, UTC, by the agent\'s clock.' CODEC(Delta, ZSTD(1)),
  `run` LowCardinality(Nullable(String)) COMMENT 'Label of a measurement run. [null: the agent labels no run]' CODEC(ZSTD(1)),
  `component` LowCardinality(String) COMMENT 'Which monitor table: IBMQREP_APPLYMON, IBMQREP_CAPMON, IBMQREP_CAPQMON.' CODEC(ZSTD(1)),
  `queue` LowCardinality(String) COMMENT 'Receive queue (apply), send queue (capture_queue); empty for capture.' CODEC(ZSTD(1)),
  `program_schema` LowCardinality(Nullable(String)) COMMENT 'Schema of the control tables. [null: not reported]' CODEC(ZSTD(1)),
  `started_at` Nullable(DateTime64(3, 'UTC')) COMMENT 'When the queue was started (QSTART_TIME), UTC. [null: not reported]' CODEC(Delta, ZSTD(1)),
  `memory_bytes` Nullable(Float64) COMMENT 'Memory in use. [bytes; gauge; null: not reported]' CODEC(ZSTD(1)),
  `queue_depth` Nullable(Float64) COMMENT 'Messages on the queue; for capture_queue on its transmission queue. [messages; gauge; null: not reported]' CODEC(ZSTD(1)),
  `queue_full_pct` Nullable(Float64) COMMENT 'How full the queue is. [%; percent; null: not reported]' CODEC(ZSTD(1)),
  `end_to_end_ms` Nullable(Float64) COMMENT 'Mean of the interval from commit at the source to commit at the target. [ms; gauge; null: not apply, or nothing was applied]' CODEC(ZSTD(1)),
  `queue_ms` Nullable(Float64) COMMENT 'Mean of the interval on the queue. [ms; gauge; null: not apply, or nothing was applied]' CODEC(ZSTD(1)),
  `apply_ms` Nullable(Float64) COMMENT 'Mean of the interval in apply. [ms; gauge; null: not apply, or nothing was applied]' CODEC(ZSTD(1)),
  `rows_applied` Nullable(Float64) COMMENT 'Rows applied. [rows; delta; null: not apply]' CODEC(ZSTD(1)),
  `rows_processed` Nullable(Float64) COMMENT 'Rows processed. [rows; delta; null: not reported]' CODEC(ZSTD(1)),
  `transactions_applied` Nullable(Float64) COMMENT 'Transactions applied. [transactions; delta; null: not reported]' CODEC(ZSTD(1)),
  `oldest_transaction_at` Nullable(DateTime64(3, 'UTC')) COMMENT 'Up to when all source transactions are applied (OLDEST_TRANS), UTC. [null: not reported]' CODEC(Delta, ZSTD(1)),
  `heartbeat_ms` Nullable(Float64) COMMENT 'Latency of heartbeat messages. [ms; gauge; null: not reported]' CODEC(ZSTD(1)),
  `current_log_at` Nullable(DateTime64(3, 'UTC')) COMMENT 'Commit time up to which Capture has read the log, UTC; grows old on an idle source. [null: not capture, or the sentinel 1900-01-01]' CODEC(Delta, ZSTD(1)),
  `largest_transaction_bytes` Nullable(Float64) COMMENT 'Largest transaction that Capture held. [bytes; gauge; null: not reported]' CODEC(ZSTD(1)),
  `transactions_spilled` Nullable(Float64) COMMENT 'Transactions spilled to disk. [transactions; delta; null: not reported]' CODEC(ZSTD(1)),
  `log_read_ms` Nullable(Float64) COMMENT 'Time in the log read API. [ms; delta; null: not reported]' CODEC(ZSTD(1)),
  `log_reads` Nullable(Float64) COMMENT 'Calls of the log read API. [calls; delta; null: not reported]' CODEC(ZSTD(1)),
  `ends_of_log` Nullable(Float64) COMMENT 'Times that Capture reached the end of the log. [times; delta; null: not reported]' CODEC(ZSTD(1)),
  `log_reader_sleep_ms` Nullable(Float64) COMMENT 'Time that the log reader slept. [ms; delta; null: not reported]' CODEC(ZSTD(1)),
  `mq_commit_ms` Nullable(Float64) COMMENT 'Time in MQCMIT. [ms; delta; null: not reported]' CODEC(ZSTD(1)),
  `mq_put_ms` Nullable(Float64) COMMENT 'Time in MQPUT. [ms; delta; null: not reported]' CODEC(ZSTD(1)),
  `rows_published` Nullable(Float64) COMMENT 'Rows put on the send queue. [rows; delta; null: not capture_queue]' CODEC(ZSTD(1)),
  `mq_bytes` Nullable(Float64) COMMENT 'Bytes put on the send queue. [bytes; delta; null: not reported]' CODEC(ZSTD(1)),
  `mq_messages` Nullable(Float64) COMMENT 'Messages put on the send queue. [messages; delta; null: not reported]' CODEC(ZSTD(1)),
  `queue_full_errors` Nullable(Float64) COMMENT 'Times that the queue was full. [errors; delta; null: not reported]' CODEC(ZSTD(1)),
  `lobs_too_big` Nullable(Float64) COMMENT 'LOB values too big for a message. [values; delta; null: not reported]' CODEC(ZSTD(1)),
  landed_at DateTime('UTC') MATERIALIZED now() COMMENT 'When the row was inserted, UTC; not in SELECT *.' CODEC(Delta, ZSTD(1)),
  CONSTRAINT ts_sane CHECK ts >= '2000-01-01'
)
ENGINE = {engine_prefix}ReplacingMergeTree(collected_at)
PARTITION BY toYYYYMMDD(ts)
ORDER BY (system, component, queue, ts)
TTL landed_at + INTERVAL 400 DAY
SETTINGS non_replicated_deduplication_window = 10000, replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800, ttl_only_drop_parts = 1, min_bytes_for_wide_part = 134217728
COMMENT 'One queue or one Capture program of Q Replication over one monitor interval.';

CREATE MATERIALIZED VIEW IF NOT EXISTS counterflow.replication_to_ledger {on_cluster} TO counterflow.ledger AS
SELECT agent_id, 'replication' AS dataset, toDate(collected_at) AS day, count() AS rows, groupBitmapState(seq) AS seqs
FROM counterflow.replication
GROUP BY agent_id, day;

CREATE MATERIALIZED VIEW IF NOT EXISTS counterflow.replication_to_1m {on_cluster} TO counterflow.metric_1m AS
SELECT metric, system, entity AS instance, minute AS ts, toUInt64(1) AS n, x AS total, x AS lo, x AS hi
FROM
(
  SELECT
    system, concat(`component`, '/', `queue`) AS entity,
    toDateTime(toStartOfMinute(ts + toIntervalMillisecond(59999))) AS minute,
    metric, assumeNotNull(value_or_null) AS x
  FROM counterflow.replication
  ARRAY JOIN
    ['replication.memory_bytes', 'replication.queue_depth', 'replication.queue_full_pct', 'replication.end_to_end_ms', 'replication.queue_ms', 'replication.apply_ms', 'replication.rows_applied', 'replication.rows_processed', 'replication.transactions_applied', 'replication.heartbeat_ms', 'replication.largest_transaction_bytes', 'replication.transactions_spilled', 'replication.log_read_ms', 'replication.log_reads', 'replication.ends_of_log', 'replication.log_reader_sleep_ms', 'replication.mq_commit_ms', 'replication.mq_put_ms', 'replication.rows_published', 'replication.mq_bytes', 'replication.mq_messages', 'replication.queue_full_errors', 'replication.lobs_too_big'] AS metric,
    [toNullable(toFloat64(`memory_bytes`)), toNullable(toFloat64(`queue_depth`)), toNullable(toFloat64(`queue_full_pct`)), toNullable(toFloat64(`end_to_end_ms`)), toNullable(toFloat64(`queue_ms`)), toNullable(toFloat64(`apply_ms`)), toNullable(toFloat64(`rows_applied`)), toNullable(toFloat64(`rows_processed`)), toNullable(toFloat64(`transactions_applied`)), toNullable(toFloat64(`heartbeat_ms`)), toNullable(toFloat64(`largest_transaction_bytes`)), toNullable(toFloat64(`transactions_spilled`)), toNullable(toFloat64(`log_read_ms`)), toNullable(toFloat64(`log_reads`)), toNullable(toFloat64(`ends_of_log`)), toNullable(toFloat64(`log_reader_sleep_ms`)), toNullable(toFloat64(`mq_commit_ms`)), toNullable(toFloat64(`mq_put_ms`)), toNullable(toFloat64(`rows_published`)), toNullable(toFloat64(`mq_bytes`)), toNullable(toFloat64(`mq_messages`)), toNullable(toFloat64(`queue_full_errors`)), toNullable(toFloat64(`lobs_too_big`))] AS value_or_null
  WHERE value_or_null IS NOT NULL
);
