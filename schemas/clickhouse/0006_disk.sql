CREATE TABLE IF NOT EXISTS counterflow.disk {on_cluster}
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
  `disk` LowCardinality(String) COMMENT 'Name of the device or of the group.' CODEC(ZSTD(1)),
  `device_type` LowCardinality(String) COMMENT 'What the name stands for: a whole disk, a partition, a device-mapper or MD device, a loop or RAM device, a multipath device or one of its paths, a group the user defined.' CODEC(ZSTD(1)),
  `leaf` Bool COMMENT 'True where the I/O of the row is counted in totals of the system. Everything else is the same I/O seen again through a partition, mapper, path or group.' CODEC(ZSTD(1)),
  `busy_pct` Nullable(Float64) COMMENT 'Share of the interval in which the device was busy. [%; percent; null: not reported]' CODEC(ZSTD(1)),
  `reads` Nullable(Float64) COMMENT 'Reads in the interval. [operations; delta; null: not reported]' CODEC(ZSTD(1)),
  `writes` Nullable(Float64) COMMENT 'Writes in the interval. [operations; delta; null: not reported]' CODEC(ZSTD(1)),
  `transfers` Nullable(Float64) COMMENT 'Reads and writes in the interval. [operations; delta; null: not reported]' CODEC(ZSTD(1)),
  `read_kb` Nullable(Float64) COMMENT 'Data read in the interval. [KB of 1,024 bytes; delta; null: not reported]' CODEC(ZSTD(1)),
  `written_kb` Nullable(Float64) COMMENT 'Data written in the interval. [KB of 1,024 bytes; delta; null: not reported]' CODEC(ZSTD(1)),
  `service_ms` Nullable(Float64) COMMENT 'Mean service time of a transfer, without waiting in the queue. [ms; gauge; null: not reported]' CODEC(ZSTD(1)),
  `read_service_ms` Nullable(Float64) COMMENT 'Mean service time of a read. [ms; gauge; null: not reported or no reads]' CODEC(ZSTD(1)),
  `write_service_ms` Nullable(Float64) COMMENT 'Mean service time of a write. [ms; gauge; null: not reported or no writes]' CODEC(ZSTD(1)),
  `wait_ms` Nullable(Float64) COMMENT 'Mean wait of a transfer in the queue before service. [ms; gauge; null: not reported]' CODEC(ZSTD(1)),
  `queue_length` Nullable(Float64) COMMENT 'Operations queued or in flight when sampled. [operations; gauge; null: not reported]' CODEC(ZSTD(1)),
  `backlog_ms` Nullable(Float64) COMMENT 'Waiting time accumulated by all I/O in the interval (weighted milliseconds). [ms; delta; null: not reported]' CODEC(ZSTD(1)),
  `merged_reads` Nullable(Float64) COMMENT 'Reads merged with a neighbour before they reached the device. [operations; delta; null: not reported]' CODEC(ZSTD(1)),
  `merged_writes` Nullable(Float64) COMMENT 'Writes merged with a neighbour before they reached the device. [operations; delta; null: not reported]' CODEC(ZSTD(1)),
  `kb_per_transfer` Nullable(Float64) COMMENT 'Mean size of a transfer, as the source reports it. [KB of 1,024 bytes; gauge; null: not reported or no transfers]' CODEC(ZSTD(1)),
  `kb_per_read` Nullable(Float64) COMMENT 'Mean size of a read, as the source reports it. [KB of 1,024 bytes; gauge; null: not reported or no reads]' CODEC(ZSTD(1)),
  `kb_per_write` Nullable(Float64) COMMENT 'Mean size of a write, as the source reports it. [KB of 1,024 bytes; gauge; null: not reported or no writes]' CODEC(ZSTD(1)),
  `unit` LowCardinality(Nullable(String)) COMMENT 'Unit number as the operator knows it; not unique where a unit has several paths or in a SAN. [null: not IBM i or not reported]' CODEC(ZSTD(1)),
  `asp` LowCardinality(Nullable(String)) COMMENT 'Number of the auxiliary storage pool; 0 is none yet. [null: not IBM i or not reported]' CODEC(ZSTD(1)),
  `state` LowCardinality(Nullable(String)) COMMENT 'State as the source words it: ACTIVE, DEGRADED, HDW FAIL. [null: not IBM i or not reported]' CODEC(ZSTD(1)),
  `protection` LowCardinality(Nullable(String)) COMMENT 'Protection as the source words it: RAID5, MRR, DPY. [null: not IBM i or not reported]' CODEC(ZSTD(1)),
  `capacity_mb` Nullable(Float64) COMMENT 'Capacity. [MB of 1,000,000 bytes; gauge; null: not IBM i or not reported]' CODEC(ZSTD(1)),
  `used_pct` Nullable(Float64) COMMENT 'Share of the capacity in use. [%; percent; null: not IBM i or not reported]' CODEC(ZSTD(1)),
  landed_at DateTime('UTC') MATERIALIZED now() COMMENT 'When the row was inserted, UTC; not in SELECT *.' CODEC(Delta, ZSTD(1)),
  CONSTRAINT ts_sane CHECK ts >= '2000-01-01'
)
ENGINE = {engine_prefix}ReplacingMergeTree(collected_at)
PARTITION BY toYYYYMMDD(ts)
ORDER BY (system, disk, ts)
TTL landed_at + INTERVAL 400 DAY
SETTINGS non_replicated_deduplication_window = 10000, replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800, ttl_only_drop_parts = 1, min_bytes_for_wide_part = 134217728
COMMENT 'One disk device or disk group of one system over one interval.';

CREATE MATERIALIZED VIEW IF NOT EXISTS counterflow.disk_to_ledger {on_cluster} TO counterflow.ledger AS
SELECT agent_id, 'disk' AS dataset, toDate(collected_at) AS day, count() AS rows, groupBitmapState(seq) AS seqs
FROM counterflow.disk
GROUP BY agent_id, day;

CREATE MATERIALIZED VIEW IF NOT EXISTS counterflow.disk_to_1m {on_cluster} TO counterflow.metric_1m AS
SELECT metric, system, entity AS instance, minute AS ts, toUInt64(1) AS n, x AS total, x AS lo, x AS hi
FROM
(
  SELECT
    system, `disk` AS entity,
    toDateTime(toStartOfMinute(ts + toIntervalMillisecond(59999))) AS minute,
    metric, assumeNotNull(value_or_null) AS x
  FROM counterflow.disk
  ARRAY JOIN
    ['disk.busy_pct', 'disk.reads', 'disk.writes', 'disk.transfers', 'disk.read_kb', 'disk.written_kb', 'disk.service_ms', 'disk.read_service_ms', 'disk.write_service_ms', 'disk.wait_ms', 'disk.queue_length', 'disk.backlog_ms', 'disk.merged_reads', 'disk.merged_writes', 'disk.kb_per_transfer', 'disk.kb_per_read', 'disk.kb_per_write', 'disk.capacity_mb', 'disk.used_pct'] AS metric,
    [toNullable(toFloat64(`busy_pct`)), toNullable(toFloat64(`reads`)), toNullable(toFloat64(`writes`)), toNullable(toFloat64(`transfers`)), toNullable(toFloat64(`read_kb`)), toNullable(toFloat64(`written_kb`)), toNullable(toFloat64(`service_ms`)), toNullable(toFloat64(`read_service_ms`)), toNullable(toFloat64(`write_service_ms`)), toNullable(toFloat64(`wait_ms`)), toNullable(toFloat64(`queue_length`)), toNullable(toFloat64(`backlog_ms`)), toNullable(toFloat64(`merged_reads`)), toNullable(toFloat64(`merged_writes`)), toNullable(toFloat64(`kb_per_transfer`)), toNullable(toFloat64(`kb_per_read`)), toNullable(toFloat64(`kb_per_write`)), toNullable(toFloat64(`capacity_mb`)), toNullable(toFloat64(`used_pct`))] AS value_or_null
  WHERE value_or_null IS NOT NULL
);
