CREATE TABLE IF NOT EXISTS counterflow.pool {on_cluster}
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
  `pool` LowCardinality(String) COMMENT '`memory` for the real memory of AIX and Linux; the number of the pool on IBM i.' CODEC(ZSTD(1)),
  `size_mb` Nullable(Float64) COMMENT 'Real memory. [MB of 1,048,576 bytes; gauge; null: not reported]' CODEC(ZSTD(1)),
  `free_mb` Nullable(Float64) COMMENT 'Free real memory. [MB of 1,048,576 bytes; gauge; null: not reported]' CODEC(ZSTD(1)),
  `cached_mb` Nullable(Float64) COMMENT 'Page cache. [MB of 1,048,576 bytes; gauge; null: not Linux]' CODEC(ZSTD(1)),
  `buffers_mb` Nullable(Float64) COMMENT 'Buffers. [MB of 1,048,576 bytes; gauge; null: not Linux]' CODEC(ZSTD(1)),
  `active_mb` Nullable(Float64) COMMENT 'Active pages. [MB of 1,048,576 bytes; gauge; null: not Linux]' CODEC(ZSTD(1)),
  `inactive_mb` Nullable(Float64) COMMENT 'Inactive pages. [MB of 1,048,576 bytes; gauge; null: not Linux]' CODEC(ZSTD(1)),
  `process_pct` Nullable(Float64) COMMENT 'Memory of processes as a share of real memory. [%; percent; null: not AIX]' CODEC(ZSTD(1)),
  `fscache_pct` Nullable(Float64) COMMENT 'File system cache as a share of real memory; reclaimable. [%; percent; null: not AIX]' CODEC(ZSTD(1)),
  `system_pct` Nullable(Float64) COMMENT 'Kernel memory as a share of real memory. [%; percent; null: not AIX]' CODEC(ZSTD(1)),
  `pinned_pct` Nullable(Float64) COMMENT 'Pinned memory as a share of real memory. [%; percent; null: not AIX]' CODEC(ZSTD(1)),
  `paging_space_mb` Nullable(Float64) COMMENT 'Paging or swap space. [MB of 1,048,576 bytes; gauge; null: not reported]' CODEC(ZSTD(1)),
  `paging_space_free_mb` Nullable(Float64) COMMENT 'Free paging or swap space. [MB of 1,048,576 bytes; gauge; null: not reported]' CODEC(ZSTD(1)),
  `faults` Nullable(Float64) COMMENT 'Page faults in the interval. [faults; delta; null: not reported]' CODEC(ZSTD(1)),
  `major_faults` Nullable(Float64) COMMENT 'Page faults in the interval that waited for I/O. [faults; delta; null: not reported]' CODEC(ZSTD(1)),
  `file_pages_in_kb` Nullable(Float64) COMMENT 'Data paged in for any reason in the interval (AIX: pgin x 4 KB). [KB of 1,024 bytes; delta; null: not reported]' CODEC(ZSTD(1)),
  `file_pages_out_kb` Nullable(Float64) COMMENT 'Data paged out for any reason in the interval (AIX: pgout x 4 KB). [KB of 1,024 bytes; delta; null: not reported]' CODEC(ZSTD(1)),
  `paging_space_pages_in` Nullable(Float64) COMMENT 'Pages read from paging or swap space in the interval. [pages; delta; null: not reported]' CODEC(ZSTD(1)),
  `paging_space_pages_out` Nullable(Float64) COMMENT 'Pages written to paging or swap space in the interval. [pages; delta; null: not reported]' CODEC(ZSTD(1)),
  `page_scans` Nullable(Float64) COMMENT 'Pages scanned for replacement in the interval. [pages; delta; null: not reported]' CODEC(ZSTD(1)),
  `page_reclaims` Nullable(Float64) COMMENT 'Pages reclaimed in the interval. [pages; delta; null: not reported]' CODEC(ZSTD(1)),
  `pool_name` LowCardinality(Nullable(String)) COMMENT 'Name of the pool: *MACHINE, *BASE, *INTERACT. [null: not IBM i or not reported]' CODEC(ZSTD(1)),
  `reserved_mb` Nullable(Float64) COMMENT 'Part of the pool that the system keeps for itself. [MB of 1,048,576 bytes; gauge; null: not IBM i or not reported]' CODEC(ZSTD(1)),
  `db_faults` Nullable(Float64) COMMENT 'Page faults of database pages in the interval. [faults; delta; null: not IBM i or not reported]' CODEC(ZSTD(1)),
  `nondb_faults` Nullable(Float64) COMMENT 'Page faults of other pages in the interval. [faults; delta; null: not IBM i or not reported]' CODEC(ZSTD(1)),
  `db_pages` Nullable(Float64) COMMENT 'Database pages read in the interval; a 64K page counts as 16. [pages of 4,096 bytes; delta; null: not IBM i or not reported]' CODEC(ZSTD(1)),
  `nondb_pages` Nullable(Float64) COMMENT 'Other pages read in the interval; a 64K page counts as 16. [pages of 4,096 bytes; delta; null: not IBM i or not reported]' CODEC(ZSTD(1)),
  `activity_level` Nullable(Float64) COMMENT 'Threads that may be active in the pool at once. [threads; gauge; null: not IBM i or not reported]' CODEC(ZSTD(1)),
  `active_to_wait` Nullable(Float64) COMMENT 'Threads that went from active to waiting. [transitions; delta; null: not IBM i or not reported]' CODEC(ZSTD(1)),
  `wait_to_ineligible` Nullable(Float64) COMMENT 'Threads that went from waiting to ineligible. [transitions; delta; null: not IBM i or not reported]' CODEC(ZSTD(1)),
  `active_to_ineligible` Nullable(Float64) COMMENT 'Threads that went from active to ineligible; above 0 the activity level is too low. [transitions; delta; null: not IBM i or not reported]' CODEC(ZSTD(1)),
  landed_at DateTime('UTC') MATERIALIZED now() COMMENT 'When the row was inserted, UTC; not in SELECT *.' CODEC(Delta, ZSTD(1)),
  CONSTRAINT ts_sane CHECK ts >= '2000-01-01'
)
ENGINE = {engine_prefix}ReplacingMergeTree(collected_at)
PARTITION BY toYYYYMMDD(ts)
ORDER BY (system, pool, ts)
TTL landed_at + INTERVAL 400 DAY
SETTINGS non_replicated_deduplication_window = 10000, replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800, ttl_only_drop_parts = 1, min_bytes_for_wide_part = 134217728
COMMENT 'One memory pool of one system over one interval; AIX and Linux have one, `memory`.';

CREATE MATERIALIZED VIEW IF NOT EXISTS counterflow.pool_to_ledger {on_cluster} TO counterflow.ledger AS
SELECT agent_id, 'pool' AS dataset, toDate(collected_at) AS day, count() AS rows, groupBitmapState(seq) AS seqs
FROM counterflow.pool
GROUP BY agent_id, day;

CREATE MATERIALIZED VIEW IF NOT EXISTS counterflow.pool_to_1m {on_cluster} TO counterflow.metric_1m AS
SELECT metric, system, entity AS instance, minute AS ts, toUInt64(1) AS n, x AS total, x AS lo, x AS hi
FROM
(
  SELECT
    system, `pool` AS entity,
    toDateTime(toStartOfMinute(ts + toIntervalMillisecond(59999))) AS minute,
    metric, assumeNotNull(value_or_null) AS x
  FROM counterflow.pool
  ARRAY JOIN
    ['pool.size_mb', 'pool.free_mb', 'pool.cached_mb', 'pool.buffers_mb', 'pool.active_mb', 'pool.inactive_mb', 'pool.process_pct', 'pool.fscache_pct', 'pool.system_pct', 'pool.pinned_pct', 'pool.paging_space_mb', 'pool.paging_space_free_mb', 'pool.faults', 'pool.major_faults', 'pool.file_pages_in_kb', 'pool.file_pages_out_kb', 'pool.paging_space_pages_in', 'pool.paging_space_pages_out', 'pool.page_scans', 'pool.page_reclaims', 'pool.reserved_mb', 'pool.db_faults', 'pool.nondb_faults', 'pool.db_pages', 'pool.nondb_pages', 'pool.activity_level', 'pool.active_to_wait', 'pool.wait_to_ineligible', 'pool.active_to_ineligible'] AS metric,
    [toNullable(toFloat64(`size_mb`)), toNullable(toFloat64(`free_mb`)), toNullable(toFloat64(`cached_mb`)), toNullable(toFloat64(`buffers_mb`)), toNullable(toFloat64(`active_mb`)), toNullable(toFloat64(`inactive_mb`)), toNullable(toFloat64(`process_pct`)), toNullable(toFloat64(`fscache_pct`)), toNullable(toFloat64(`system_pct`)), toNullable(toFloat64(`pinned_pct`)), toNullable(toFloat64(`paging_space_mb`)), toNullable(toFloat64(`paging_space_free_mb`)), toNullable(toFloat64(`faults`)), toNullable(toFloat64(`major_faults`)), toNullable(toFloat64(`file_pages_in_kb`)), toNullable(toFloat64(`file_pages_out_kb`)), toNullable(toFloat64(`paging_space_pages_in`)), toNullable(toFloat64(`paging_space_pages_out`)), toNullable(toFloat64(`page_scans`)), toNullable(toFloat64(`page_reclaims`)), toNullable(toFloat64(`reserved_mb`)), toNullable(toFloat64(`db_faults`)), toNullable(toFloat64(`nondb_faults`)), toNullable(toFloat64(`db_pages`)), toNullable(toFloat64(`nondb_pages`)), toNullable(toFloat64(`activity_level`)), toNullable(toFloat64(`active_to_wait`)), toNullable(toFloat64(`wait_to_ineligible`)), toNullable(toFloat64(`active_to_ineligible`))] AS value_or_null
  WHERE value_or_null IS NOT NULL
);
