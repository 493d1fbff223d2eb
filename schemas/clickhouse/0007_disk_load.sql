CREATE TABLE IF NOT EXISTS counterflow.disk_load {on_cluster}
(
  `ts` DateTime64(3, 'UTC') COMMENT 'End of the interval, UTC.' CODEC(Delta, ZSTD(1)),
  `interval_s` Nullable(Float64) COMMENT 'Length of the interval. [s; gauge; null: the inputs give no length]' CODEC(ZSTD(1)),
  `system` LowCardinality(String) COMMENT 'Name of the system.' CODEC(ZSTD(1)),
  `n` UInt64 COMMENT 'Distinct input rows the result is made of; less than the manifest\'s rows means provisional. [rows; gauge]' CODEC(T64, ZSTD(1)),
  `disk` LowCardinality(String) COMMENT 'Name of the disk as in the dataset disk, or `*`, which no device is named, for the sum over leaf disks.' CODEC(ZSTD(1)),
  `leaf` Bool COMMENT 'True where the row is counted in `*`; true for `*` itself.' CODEC(ZSTD(1)),
  `transfers_per_s` Nullable(Float64) COMMENT 'Reads and writes a second. [operations/s; rate; null: neither transfers nor reads and writes are known]' CODEC(ZSTD(1)),
  `reads_per_s` Nullable(Float64) COMMENT 'Reads a second. [operations/s; rate; null: reads unknown]' CODEC(ZSTD(1)),
  `writes_per_s` Nullable(Float64) COMMENT 'Writes a second. [operations/s; rate; null: writes unknown]' CODEC(ZSTD(1)),
  `read_mb` Nullable(Float64) COMMENT 'Data read in the interval. [MB of 1,048,576 bytes; delta; null: reads unknown]' CODEC(ZSTD(1)),
  `written_mb` Nullable(Float64) COMMENT 'Data written in the interval. [MB of 1,048,576 bytes; delta; null: writes unknown]' CODEC(ZSTD(1)),
  `rw_ratio` Nullable(Float64) COMMENT 'Data read / data written. [ratio; gauge; null: nothing was written]' CODEC(ZSTD(1)),
  `kb_per_transfer` Nullable(Float64) COMMENT 'Data moved by a transfer. [KB of 1,024 bytes; gauge; null: no transfer]' CODEC(ZSTD(1)),
  `response_ms` Nullable(Float64) COMMENT '(service + wait) of a transfer; over `*`, weighted by transfers. [ms; gauge; null: no transfer or no service time known]' CODEC(ZSTD(1)),
  `busy_pct` Nullable(Float64) COMMENT 'Busy; over `*`, the busiest disk, since the mean of busy hides the limit. [%; percent; null: unknown]' CODEC(ZSTD(1)),
  landed_at DateTime('UTC') MATERIALIZED now() COMMENT 'When the row was inserted, UTC; not in SELECT *.' CODEC(Delta, ZSTD(1)),
  CONSTRAINT ts_sane CHECK ts >= '2000-01-01'
)
ENGINE = {engine_prefix}ReplacingMergeTree(n)
PARTITION BY toYYYYMMDD(ts)
ORDER BY (system, disk, ts)
TTL landed_at + INTERVAL 400 DAY
SETTINGS non_replicated_deduplication_window = 10000, replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800, ttl_only_drop_parts = 1, min_bytes_for_wide_part = 134217728
COMMENT 'One disk, or all leaf disks of a system together (`disk` = `*`), over one interval.';
