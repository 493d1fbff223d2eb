CREATE TABLE IF NOT EXISTS counterflow.footprint {on_cluster}
(
  `ts` DateTime64(3, 'UTC') COMMENT 'End of the interval, UTC.' CODEC(Delta, ZSTD(1)),
  `interval_s` Nullable(Float64) COMMENT 'Length of the interval. [s; gauge; null: the inputs give no length]' CODEC(ZSTD(1)),
  `system` LowCardinality(String) COMMENT 'Name of the system.' CODEC(ZSTD(1)),
  `n` UInt64 COMMENT 'Distinct input rows the result is made of; less than the manifest\'s rows means provisional. [rows; gauge]' CODEC(T64, ZSTD(1)),
  `command` LowCardinality(String) COMMENT 'Program name.' CODEC(ZSTD(1)),
  `cpu_ms` Nullable(Float64) COMMENT 'Processor time of the command\'s processes on `cpu_base`. [ms; delta; null: no process reported CPU]' CODEC(ZSTD(1)),
  `cpu_cores` Nullable(Float64) COMMENT 'cpu_ms / interval: processors of `cpu_base` kept busy. [processors; gauge; null: no process reported CPU]' CODEC(ZSTD(1)),
  `cpu_base` LowCardinality(Nullable(String)) COMMENT '`logical` processors (Linux) or `physical` cores (AIX). [null: no CPU figure]' CODEC(ZSTD(1)),
  `memory_mb` Nullable(Float64) COMMENT 'Private memory of the processes plus their text once: resident data + text (AIX), resident less shared (Linux). [MB of 1,048,576 bytes; gauge; null: not reported]' CODEC(ZSTD(1)),
  `threads` Nullable(Float64) COMMENT 'Threads of the processes. [threads; gauge; null: not reported]' CODEC(ZSTD(1)),
  landed_at DateTime('UTC') MATERIALIZED now() COMMENT 'When the row was inserted, UTC; not in SELECT *.' CODEC(Delta, ZSTD(1)),
  CONSTRAINT ts_sane CHECK ts >= '2000-01-01'
)
ENGINE = {engine_prefix}ReplacingMergeTree(n)
PARTITION BY toYYYYMMDD(ts)
ORDER BY (system, command, ts)
TTL landed_at + INTERVAL 400 DAY
SETTINGS non_replicated_deduplication_window = 10000, replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800, ttl_only_drop_parts = 1, min_bytes_for_wide_part = 134217728
COMMENT 'All processes of one command on one system over one interval.';
