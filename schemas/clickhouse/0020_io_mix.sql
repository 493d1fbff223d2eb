CREATE TABLE IF NOT EXISTS counterflow.io_mix {on_cluster}
(
  `ts` DateTime64(3, 'UTC') COMMENT 'End of the interval, UTC.' CODEC(Delta, ZSTD(1)),
  `interval_s` Nullable(Float64) COMMENT 'Length of the interval. [s; gauge; null: the inputs give no length]' CODEC(ZSTD(1)),
  `system` LowCardinality(String) COMMENT 'Name of the system.' CODEC(ZSTD(1)),
  `n` UInt64 COMMENT 'Distinct input rows the result is made of; less than the manifest\'s rows means provisional. [rows; gauge]' CODEC(T64, ZSTD(1)),
  `grouping` LowCardinality(String) COMMENT 'By what the jobs are grouped: `partition` (all of them), `subsystem`, `user` (of the job\'s identity), `job` (name) or `generic_job` (the first six characters of the name).' CODEC(ZSTD(1)),
  `name` LowCardinality(String) COMMENT 'Name of the group; `*` for the partition. Rows of the dataset job that do not name it are in the partition alone.' CODEC(ZSTD(1)),
  `split` LowCardinality(Nullable(String)) COMMENT '`four-way`; `three-way` where a row does not part reads for update from others: read_only and read_for_update are then null, and exposure_pct is a lower bound. [null: no row has logical I/O]' CODEC(ZSTD(1)),
  `logical_io` Nullable(Float64) COMMENT 'reads + inserts + other. Under sequential-only processing, reads and inserts count blocks, not rows. [operations; delta; null: no row has logical I/O]' CODEC(ZSTD(1)),
  `logical_io_per_s` Nullable(Float64) COMMENT 'logical_io a second. [operations/s; rate; null: no row has logical I/O or the interval has no length]' CODEC(ZSTD(1)),
  `reads` Nullable(Float64) COMMENT 'Logical reads, those for update among them; blocks, not rows, under sequential-only. [reads; delta; null: no row has logical I/O]' CODEC(ZSTD(1)),
  `read_only` Nullable(Float64) COMMENT 'Logical reads that are not for update; blocks, not rows, under sequential-only. [reads; delta; null: split is three-way]' CODEC(ZSTD(1)),
  `read_for_update` Nullable(Float64) COMMENT 'Logical reads for update: each locks on both nodes under Db2 Mirror. [reads; delta; null: split is three-way]' CODEC(ZSTD(1)),
  `inserts` Nullable(Float64) COMMENT 'Logical writes; blocks, not rows, under sequential-only. [writes; delta; null: no row has logical I/O]' CODEC(ZSTD(1)),
  `other` Nullable(Float64) COMMENT 'Updates, deletes, force end of data, commits, rollbacks, releases. [operations; delta; null: no row has logical I/O]' CODEC(ZSTD(1)),
  `read_pct` Nullable(Float64) COMMENT 'Share of reads in logical_io. [%; percent; null: no logical I/O]' CODEC(ZSTD(1)),
  `read_only_pct` Nullable(Float64) COMMENT 'Share of read_only in logical_io. [%; percent; null: no logical I/O or split is three-way]' CODEC(ZSTD(1)),
  `read_for_update_pct` Nullable(Float64) COMMENT 'Share of read_for_update in logical_io. [%; percent; null: no logical I/O or split is three-way]' CODEC(ZSTD(1)),
  `insert_pct` Nullable(Float64) COMMENT 'Share of inserts in logical_io. [%; percent; null: no logical I/O]' CODEC(ZSTD(1)),
  `other_pct` Nullable(Float64) COMMENT 'Share of other in logical_io. [%; percent; null: no logical I/O]' CODEC(ZSTD(1)),
  `modify_pct` Nullable(Float64) COMMENT 'Share of inserts and other in logical_io. [%; percent; null: no logical I/O]' CODEC(ZSTD(1)),
  `exposure_pct` Nullable(Float64) COMMENT 'Share of logical_io that Db2 Mirror would touch: read for update, inserts and other; a lower bound where split is three-way. [%; percent; null: no logical I/O]' CODEC(ZSTD(1)),
  `commits` Nullable(Float64) COMMENT 'Database commits, part of other. [operations; delta; null: not reported]' CODEC(ZSTD(1)),
  `rollbacks` Nullable(Float64) COMMENT 'Database rollbacks, part of other. [operations; delta; null: not reported]' CODEC(ZSTD(1)),
  landed_at DateTime('UTC') MATERIALIZED now() COMMENT 'When the row was inserted, UTC; not in SELECT *.' CODEC(Delta, ZSTD(1)),
  CONSTRAINT ts_sane CHECK ts >= '2000-01-01'
)
ENGINE = {engine_prefix}ReplacingMergeTree(n)
PARTITION BY toYYYYMMDD(ts)
ORDER BY (system, grouping, name, ts)
TTL landed_at + INTERVAL 400 DAY
SETTINGS non_replicated_deduplication_window = 10000, replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800, ttl_only_drop_parts = 1, min_bytes_for_wide_part = 134217728
COMMENT 'Logical database I/O of one group of jobs of one system over one interval.';
