CREATE TABLE IF NOT EXISTS counterflow.pool_faulting {on_cluster}
(
  `ts` DateTime64(3, 'UTC') COMMENT 'End of the interval, UTC.' CODEC(Delta, ZSTD(1)),
  `interval_s` Nullable(Float64) COMMENT 'Length of the interval. [s; gauge; null: the inputs give no length]' CODEC(ZSTD(1)),
  `system` LowCardinality(String) COMMENT 'Name of the system.' CODEC(ZSTD(1)),
  `n` UInt64 COMMENT 'Distinct input rows the result is made of; less than the manifest\'s rows means provisional. [rows; gauge]' CODEC(T64, ZSTD(1)),
  `pool` LowCardinality(String) COMMENT 'Number of the pool, without leading zeros.' CODEC(ZSTD(1)),
  `pool_name` LowCardinality(Nullable(String)) COMMENT 'Name of the pool. [null: not reported]' CODEC(ZSTD(1)),
  `size_mb` Nullable(Float64) COMMENT 'Size of the pool. [MB of 1,048,576 bytes; gauge; null: not reported]' CODEC(ZSTD(1)),
  `reserved_pct` Nullable(Float64) COMMENT 'Share of the pool that the system keeps for itself; of the machine pool above 50 % is too much. [%; percent; null: not reported]' CODEC(ZSTD(1)),
  `faults_per_s` Nullable(Float64) COMMENT 'Page faults a second, database and other. [faults/s; rate; null: not reported]' CODEC(ZSTD(1)),
  `activity_level` Nullable(Float64) COMMENT 'Threads that may be active in the pool at once. [threads; gauge; null: not reported]' CODEC(ZSTD(1)),
  `active_to_ineligible` Nullable(Float64) COMMENT 'Threads that went from active to ineligible; above 0 the activity level is too low. [transitions; delta; null: not reported]' CODEC(ZSTD(1)),
  `disks` UInt64 COMMENT 'Disk rows behind disk_response_ms; part of n. [rows; gauge]' CODEC(T64, ZSTD(1)),
  `disk_response_ms` Nullable(Float64) COMMENT 'Response of a disk transfer, over all leaf disks of the system. [ms; gauge; null: no transfer or no service time known]' CODEC(ZSTD(1)),
  `transactions_per_s` Nullable(Float64) COMMENT 'Transactions of the pool\'s interactive jobs. [transactions/s; rate; null: no interactive job in the pool]' CODEC(ZSTD(1)),
  `response_s` Nullable(Float64) COMMENT 'Response of one of them. [s; gauge; null: no transaction]' CODEC(ZSTD(1)),
  `fault_s` Nullable(Float64) COMMENT 'Part of response_s spent in page faults. [s; gauge; null: no transaction or another input is missing]' CODEC(ZSTD(1)),
  `interactive_fault_pct` Nullable(Float64) COMMENT 'fault_s as a share of response_s: below 10 more memory has little benefit, from 25 on it may help. [%; percent; null: see interactive_missing]' CODEC(ZSTD(1)),
  `interactive_missing` LowCardinality(Nullable(String)) COMMENT 'The first input that interactive_fault_pct lacks. [null: nothing is missing]' CODEC(ZSTD(1)),
  `batch_jobs` Nullable(Float64) COMMENT 'Batch jobs of the pool that used CPU in the interval, whether at once or one after another. [jobs; gauge; null: no batch job in the pool used CPU]' CODEC(ZSTD(1)),
  `batch_cpu_pct` Nullable(Float64) COMMENT 'Share of the interval that one of them was at a processor, on average. [%; percent; null: no batch job in the pool]' CODEC(ZSTD(1)),
  `batch_fault_pct` Nullable(Float64) COMMENT 'Share of the interval that one of them spent in page faults, on average. [%; percent; null: see batch_missing]' CODEC(ZSTD(1)),
  `batch_fault_to_work_pct` Nullable(Float64) COMMENT 'batch_fault_pct / (batch_fault_pct + batch_cpu_pct): below 10 more memory has little benefit, above 25 it may help. [%; percent; null: see batch_missing]' CODEC(ZSTD(1)),
  `batch_missing` LowCardinality(Nullable(String)) COMMENT 'The first input that batch_fault_pct lacks. [null: nothing is missing]' CODEC(ZSTD(1)),
  landed_at DateTime('UTC') MATERIALIZED now() COMMENT 'When the row was inserted, UTC; not in SELECT *.' CODEC(Delta, ZSTD(1)),
  CONSTRAINT ts_sane CHECK ts >= '2000-01-01'
)
ENGINE = {engine_prefix}ReplacingMergeTree(n)
PARTITION BY toYYYYMMDD(ts)
ORDER BY (system, pool, ts)
TTL landed_at + INTERVAL 400 DAY
SETTINGS non_replicated_deduplication_window = 10000, replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800, ttl_only_drop_parts = 1, min_bytes_for_wide_part = 134217728
COMMENT 'What page faults cost the jobs of one memory pool of one system over one interval.';
