CREATE TABLE IF NOT EXISTS counterflow.wait {on_cluster}
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
  `task` LowCardinality(String) COMMENT 'Task count in hexadecimal, as `task` of the dataset job; `*` for the whole system.' CODEC(ZSTD(1)),
  `bucket` UInt64 COMMENT 'Number of the bucket, 1 to 32. [bucket number; gauge]' CODEC(T64, ZSTD(1)),
  `bucket_name` LowCardinality(String) COMMENT 'What is waited for, as QAPMJOBWTD of the collection names it, else as the default map does.' CODEC(ZSTD(1)),
  `wait_group` LowCardinality(String) COMMENT 'Group of the bucket in the charts of Performance Data Investigator.' CODEC(ZSTD(1)),
  `waits` Nullable(Float64) COMMENT 'Waits that ended in the bucket. [waits; delta; null: not reported]' CODEC(ZSTD(1)),
  `wait_ms` Nullable(Float64) COMMENT 'Time in the bucket. [ms; delta; null: not reported]' CODEC(ZSTD(1)),
  `contributing_jobs` Nullable(Float64) COMMENT 'Jobs that spent time in the bucket. [jobs; gauge; null: not a row of the system]' CODEC(ZSTD(1)),
  landed_at DateTime('UTC') MATERIALIZED now() COMMENT 'When the row was inserted, UTC; not in SELECT *.' CODEC(Delta, ZSTD(1)),
  CONSTRAINT ts_sane CHECK ts >= '2000-01-01'
)
ENGINE = {engine_prefix}ReplacingMergeTree(collected_at)
PARTITION BY toYYYYMMDD(ts)
ORDER BY (system, task, bucket, ts)
TTL landed_at + INTERVAL 400 DAY
SETTINGS non_replicated_deduplication_window = 10000, replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800, ttl_only_drop_parts = 1, min_bytes_for_wide_part = 134217728
COMMENT 'What one task, or all of a system together (`task` = `*`), spent in one wait bucket over one interval. A bucket without time and without waits has no row.';

CREATE MATERIALIZED VIEW IF NOT EXISTS counterflow.wait_to_ledger {on_cluster} TO counterflow.ledger AS
SELECT agent_id, 'wait' AS dataset, toDate(collected_at) AS day, count() AS rows, groupBitmapState(seq) AS seqs
FROM counterflow.wait
GROUP BY agent_id, day;
