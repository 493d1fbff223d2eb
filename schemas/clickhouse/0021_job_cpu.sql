CREATE TABLE IF NOT EXISTS counterflow.job_cpu {on_cluster}
(
  `ts` DateTime64(3, 'UTC') COMMENT 'End of the interval, UTC.' CODEC(Delta, ZSTD(1)),
  `interval_s` Nullable(Float64) COMMENT 'Length of the interval. [s; gauge; null: the inputs give no length]' CODEC(ZSTD(1)),
  `system` LowCardinality(String) COMMENT 'Name of the system.' CODEC(ZSTD(1)),
  `n` UInt64 COMMENT 'Distinct input rows the result is made of; less than the manifest\'s rows means provisional. [rows; gauge]' CODEC(T64, ZSTD(1)),
  `grouping` LowCardinality(String) COMMENT 'By what the jobs are grouped: `partition` (all of them), `accounting_code`, `subsystem`, `user` (of the job\'s identity), `job` (name), `generic_job` (the first six characters of the name) or `job_type`.' CODEC(ZSTD(1)),
  `name` LowCardinality(String) COMMENT 'Name of the group; `*` for the partition, empty for a blank accounting code. Rows of the dataset job that do not name it are in the partition alone.' CODEC(ZSTD(1)),
  `cpu_ms` Nullable(Float64) COMMENT 'Processor time of all threads; its share of the system is cpu_ms over that of the partition. [ms; delta; null: no row has CPU]' CODEC(ZSTD(1)),
  `cpu_cores` Nullable(Float64) COMMENT 'cpu_ms / length of the interval: processors kept busy. [cores; gauge; null: no row has CPU or the interval has no length]' CODEC(ZSTD(1)),
  `sql_cpu_ms` Nullable(Float64) COMMENT 'Part of cpu_ms in SQL. [ms; delta; null: not reported]' CODEC(ZSTD(1)),
  `tasks` Float64 COMMENT 'Threads and tasks that used processor time; a summary row of short-lived tasks counts as many as it stands for. [tasks; delta]' CODEC(ZSTD(1)),
  landed_at DateTime('UTC') MATERIALIZED now() COMMENT 'When the row was inserted, UTC; not in SELECT *.' CODEC(Delta, ZSTD(1)),
  CONSTRAINT ts_sane CHECK ts >= '2000-01-01'
)
ENGINE = {engine_prefix}ReplacingMergeTree(n)
PARTITION BY toYYYYMMDD(ts)
ORDER BY (system, grouping, name, ts)
TTL landed_at + INTERVAL 400 DAY
SETTINGS non_replicated_deduplication_window = 10000, replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800, ttl_only_drop_parts = 1, min_bytes_for_wide_part = 134217728
COMMENT 'Processor time of one group of jobs and tasks of one system over one interval.';
