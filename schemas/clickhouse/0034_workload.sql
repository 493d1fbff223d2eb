CREATE TABLE IF NOT EXISTS counterflow.workload {on_cluster}
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
  `workload` LowCardinality(String) COMMENT 'Name of the batch, driver or query stream.' CODEC(ZSTD(1)),
  `run_id` LowCardinality(String) COMMENT 'Execution of it; `done` grows within one and begins anew with the next. Empty where the source names none.' CODEC(ZSTD(1)),
  `unit_of_work` LowCardinality(String) COMMENT 'What is counted: accounts, transactions, operations, queries.' CODEC(ZSTD(1)),
  `operation` LowCardinality(String) COMMENT 'Kind of operation: READ, UPDATE; empty is all together. Rows of one kind are not added to those of all.' CODEC(ZSTD(1)),
  `prev_ts` Nullable(DateTime64(3, 'UTC')) COMMENT 'Time of the preceding sample of the run, UTC. [null: no preceding sample of the run, or the count went backwards]' CODEC(Delta, ZSTD(1)),
  `done` Nullable(Float64) COMMENT 'Units of work done since the run began. [units of work; cumulative; null: not reported]' CODEC(Delta, ZSTD(1)),
  `prev_done` Nullable(Float64) COMMENT '`done` at prev_ts. [units of work; cumulative; null: no preceding sample of the run, or the count went backwards]' CODEC(Delta, ZSTD(1)),
  `done_delta` Nullable(Float64) COMMENT 'Units of work done in the interval as the source states them. [units of work; delta; null: the source keeps a running count alone]' CODEC(ZSTD(1)),
  `failed` Nullable(Float64) COMMENT 'Units of work that failed since the run began. [units of work; cumulative; null: not reported]' CODEC(Delta, ZSTD(1)),
  `done_per_s` Nullable(Float64) COMMENT 'Throughput as the source states it. [units of work/s; rate; null: not reported]' CODEC(ZSTD(1)),
  `rows` Nullable(Float64) COMMENT 'Rows touched since the run began. [rows; cumulative; null: not reported]' CODEC(Delta, ZSTD(1)),
  `users` Nullable(Float64) COMMENT 'Users, threads or jobs that drive it. [users; gauge; null: not reported]' CODEC(ZSTD(1)),
  `response_ms` Nullable(Float64) COMMENT 'Mean response time of the interval. [ms; gauge; null: not reported]' CODEC(ZSTD(1)),
  `response_min_ms` Nullable(Float64) COMMENT 'Shortest response time. [ms; gauge; null: not reported]' CODEC(ZSTD(1)),
  `response_max_ms` Nullable(Float64) COMMENT 'Longest response time. [ms; gauge; null: not reported]' CODEC(ZSTD(1)),
  `response_p50_ms` Nullable(Float64) COMMENT 'Median of the response times. [ms; gauge; null: not reported]' CODEC(ZSTD(1)),
  `response_p95_ms` Nullable(Float64) COMMENT '95th percentile of the response times; never averaged. [ms; gauge; null: not reported]' CODEC(ZSTD(1)),
  `response_p99_ms` Nullable(Float64) COMMENT '99th percentile of the response times; never averaged. [ms; gauge; null: not reported]' CODEC(ZSTD(1)),
  `final` Nullable(Bool) COMMENT 'True for the summary of the whole run: its figures hold the others. [null: not a source with a closing summary]' CODEC(ZSTD(1)),
  landed_at DateTime('UTC') MATERIALIZED now() COMMENT 'When the row was inserted, UTC; not in SELECT *.' CODEC(Delta, ZSTD(1)),
  CONSTRAINT ts_sane CHECK ts >= '2000-01-01'
)
ENGINE = {engine_prefix}ReplacingMergeTree(collected_at)
PARTITION BY toYYYYMMDD(ts)
ORDER BY (system, workload, run_id, operation, ts)
TTL landed_at + INTERVAL 400 DAY
SETTINGS non_replicated_deduplication_window = 10000, replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800, ttl_only_drop_parts = 1, min_bytes_for_wide_part = 134217728
COMMENT 'What one workload had done at one sample, or did in one interval.';

CREATE MATERIALIZED VIEW IF NOT EXISTS counterflow.workload_to_ledger {on_cluster} TO counterflow.ledger AS
SELECT agent_id, 'workload' AS dataset, toDate(collected_at) AS day, count() AS rows, groupBitmapState(seq) AS seqs
FROM counterflow.workload
GROUP BY agent_id, day;

CREATE MATERIALIZED VIEW IF NOT EXISTS counterflow.workload_to_1m {on_cluster} TO counterflow.metric_1m AS
SELECT metric, system, entity AS instance, minute AS ts, toUInt64(1) AS n, x AS total, x AS lo, x AS hi
FROM
(
  SELECT
    system, concat(`workload`, '/', `run_id`, '/', `operation`) AS entity,
    toDateTime(toStartOfMinute(ts + toIntervalMillisecond(59999))) AS minute,
    metric, assumeNotNull(value_or_null) AS x
  FROM counterflow.workload
  ARRAY JOIN
    ['workload.done', 'workload.prev_done', 'workload.done_delta', 'workload.failed', 'workload.done_per_s', 'workload.rows', 'workload.users', 'workload.response_ms', 'workload.response_min_ms', 'workload.response_max_ms', 'workload.response_p50_ms', 'workload.response_p95_ms', 'workload.response_p99_ms'] AS metric,
    [toNullable(toFloat64(`done`)), toNullable(toFloat64(`prev_done`)), toNullable(toFloat64(`done_delta`)), toNullable(toFloat64(`failed`)), toNullable(toFloat64(`done_per_s`)), toNullable(toFloat64(`rows`)), toNullable(toFloat64(`users`)), toNullable(toFloat64(`response_ms`)), toNullable(toFloat64(`response_min_ms`)), toNullable(toFloat64(`response_max_ms`)), toNullable(toFloat64(`response_p50_ms`)), toNullable(toFloat64(`response_p95_ms`)), toNullable(toFloat64(`response_p99_ms`))] AS value_or_null
  WHERE value_or_null IS NOT NULL
);
