CREATE TABLE IF NOT EXISTS counterflow.system_cpu {on_cluster}
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
  `engine_type` LowCardinality(String) COMMENT 'Kind of processor: `core` (AIX, IBM i, Linux), `gcp` and `ziip` (z/OS).' CODEC(ZSTD(1)),
  `engine` LowCardinality(String) COMMENT '`all`, or the logical processor as its source names it (`CPU001`).' CODEC(ZSTD(1)),
  `user_pct` Nullable(Float64) COMMENT 'Time in user mode as a share of `cpu_base`. [%; percent; null: the source refused the row (negative deltas) or has no such column]' CODEC(ZSTD(1)),
  `sys_pct` Nullable(Float64) COMMENT 'Time in system mode as a share of `cpu_base`. [%; percent; null: as user_pct]' CODEC(ZSTD(1)),
  `wait_pct` Nullable(Float64) COMMENT 'Time idle while an I/O was outstanding as a share of `cpu_base`. [%; percent; null: as user_pct]' CODEC(ZSTD(1)),
  `idle_pct` Nullable(Float64) COMMENT 'Time idle as a share of `cpu_base`. [%; percent; null: as user_pct]' CODEC(ZSTD(1)),
  `steal_pct` Nullable(Float64) COMMENT 'Time the hypervisor gave to others while this system wanted to run. [%; percent; null: not Linux, or recorder older than 16]' CODEC(ZSTD(1)),
  `cpu_base` LowCardinality(Nullable(String)) COMMENT 'What 100 % is: `logical` = all logical processors of the row; `floating` = the larger of entitlement and consumption of a shared AIX partition: such percentages must not be averaged. [null: the row has no percentages]' CODEC(ZSTD(1)),
  `logical_engines` Nullable(Float64) COMMENT 'Logical processors (hardware threads; on z/OS those online). [processors; gauge; null: not told by the source]' CODEC(ZSTD(1)),
  `virtual_engines` Nullable(Float64) COMMENT 'Virtual processors of the partition. [processors; gauge; null: not a partition]' CODEC(ZSTD(1)),
  `entitled_cores` Nullable(Float64) COMMENT 'Entitled capacity of the partition. [cores; gauge; null: not a shared partition]' CODEC(ZSTD(1)),
  `physical_consumed_cores` Nullable(Float64) COMMENT 'Physical processors consumed. [cores; gauge; null: the source has no physical counters]' CODEC(ZSTD(1)),
  `physical_user_cores` Nullable(Float64) COMMENT 'Physical processors in user mode (PURR). [cores; gauge; null: as physical_consumed_cores]' CODEC(ZSTD(1)),
  `physical_sys_cores` Nullable(Float64) COMMENT 'Physical processors in system mode (PURR). [cores; gauge; null: as physical_consumed_cores]' CODEC(ZSTD(1)),
  `physical_wait_cores` Nullable(Float64) COMMENT 'Physical processors in I/O wait (PURR). [cores; gauge; null: as physical_consumed_cores]' CODEC(ZSTD(1)),
  `physical_idle_cores` Nullable(Float64) COMMENT 'Physical processors dispatched but idle (PURR). [cores; gauge; null: as physical_consumed_cores]' CODEC(ZSTD(1)),
  `scaled_user_cores` Nullable(Float64) COMMENT 'As physical_user_cores scaled by frequency (SPURR). [cores; gauge; null: as physical_consumed_cores]' CODEC(ZSTD(1)),
  `scaled_sys_cores` Nullable(Float64) COMMENT 'As physical_sys_cores scaled by frequency (SPURR). [cores; gauge; null: as physical_consumed_cores]' CODEC(ZSTD(1)),
  `scaled_wait_cores` Nullable(Float64) COMMENT 'As physical_wait_cores scaled by frequency (SPURR). [cores; gauge; null: as physical_consumed_cores]' CODEC(ZSTD(1)),
  `scaled_idle_cores` Nullable(Float64) COMMENT 'As physical_idle_cores scaled by frequency (SPURR). [cores; gauge; null: as physical_consumed_cores]' CODEC(ZSTD(1)),
  `pool_cores` Nullable(Float64) COMMENT 'Processors of the shared pool. [cores; gauge; null: not a shared partition or not permitted]' CODEC(ZSTD(1)),
  `pool_idle_cores` Nullable(Float64) COMMENT 'Idle processors of the shared pool. [cores; gauge; null: pool data not permitted or not reported]' CODEC(ZSTD(1)),
  `pool_used_pct` Nullable(Float64) COMMENT 'Share of the pool that this partition consumed. [%; percent; null: as pool_cores]' CODEC(ZSTD(1)),
  `folded_engines` Nullable(Float64) COMMENT 'Virtual processors folded away. [processors; gauge; null: not reported]' CODEC(ZSTD(1)),
  `busy_pct` Nullable(Float64) COMMENT 'CPU time used / CPU time configured; above 100 where the partition is uncapped and uses more. On z/OS the utilisation of the online processors of the type. [%; percent; null: not IBM i or z/OS or not reported]' CODEC(ZSTD(1)),
  `cpu_ms` Nullable(Float64) COMMENT 'CPU time used. [ms; delta; null: not IBM i or not reported]' CODEC(ZSTD(1)),
  `configured_cpu_ms` Nullable(Float64) COMMENT 'CPU time configured: what the partition is entitled to. [ms; delta; null: not IBM i or not reported]' CODEC(ZSTD(1)),
  `available_cpu_ms` Nullable(Float64) COMMENT 'CPU time that could have been used. [ms; delta; null: not IBM i or not reported]' CODEC(ZSTD(1)),
  `uncapped_cpu_ms` Nullable(Float64) COMMENT 'CPU time configured if nothing capped the partition. [ms; delta; null: not IBM i or not reported]' CODEC(ZSTD(1)),
  `scaled_cpu_ms` Nullable(Float64) COMMENT 'CPU time used, scaled to the rated speed. [ms; delta; null: not IBM i or not reported]' CODEC(ZSTD(1)),
  `interactive_cpu_ms` Nullable(Float64) COMMENT 'CPU time of interactive work. [ms; delta; null: not IBM i or not reported]' CODEC(ZSTD(1)),
  `sql_cpu_ms` Nullable(Float64) COMMENT 'CPU time of SQL. [ms; delta; null: not IBM i or not reported]' CODEC(ZSTD(1)),
  `hypervisor_ms` Nullable(Float64) COMMENT 'Part of cpu_ms in the hypervisor. [ms; delta; null: not IBM i or not reported]' CODEC(ZSTD(1)),
  `interrupt_ms` Nullable(Float64) COMMENT 'CPU time in interrupt handlers. [ms; delta; null: not IBM i or not reported]' CODEC(ZSTD(1)),
  `waittask_ms` Nullable(Float64) COMMENT 'CPU time of the wait task; not in cpu_ms. [ms; delta; null: not IBM i or not reported]' CODEC(ZSTD(1)),
  `donated_ms` Nullable(Float64) COMMENT 'CPU time donated to other partitions. [ms; delta; null: not IBM i or not reported]' CODEC(ZSTD(1)),
  `wait_ready_ms` Nullable(Float64) COMMENT 'Virtual processors ready to run with the entitlement exhausted. [ms; delta; null: not IBM i or not reported]' CODEC(ZSTD(1)),
  `dispatch_latency_ms` Nullable(Float64) COMMENT 'Virtual processors ready to run without a physical processor free. [ms; delta; null: not IBM i or not reported]' CODEC(ZSTD(1)),
  `wait_event_ms` Nullable(Float64) COMMENT 'Virtual processors waiting for an event. [ms; delta; null: not IBM i or not reported]' CODEC(ZSTD(1)),
  landed_at DateTime('UTC') MATERIALIZED now() COMMENT 'When the row was inserted, UTC; not in SELECT *.' CODEC(Delta, ZSTD(1)),
  CONSTRAINT ts_sane CHECK ts >= '2000-01-01'
)
ENGINE = {engine_prefix}ReplacingMergeTree(collected_at)
PARTITION BY toYYYYMMDD(ts)
ORDER BY (system, engine_type, engine, ts)
TTL landed_at + INTERVAL 400 DAY
SETTINGS non_replicated_deduplication_window = 10000, replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800, ttl_only_drop_parts = 1, min_bytes_for_wide_part = 134217728
COMMENT 'The processors of one system, all together (`engine` = `all`) or one logical processor, over one interval.';

CREATE MATERIALIZED VIEW IF NOT EXISTS counterflow.system_cpu_to_ledger {on_cluster} TO counterflow.ledger AS
SELECT agent_id, 'system_cpu' AS dataset, toDate(collected_at) AS day, count() AS rows, groupBitmapState(seq) AS seqs
FROM counterflow.system_cpu
GROUP BY agent_id, day;

CREATE MATERIALIZED VIEW IF NOT EXISTS counterflow.system_cpu_to_1m {on_cluster} TO counterflow.metric_1m AS
SELECT metric, system, entity AS instance, minute AS ts, toUInt64(1) AS n, x AS total, x AS lo, x AS hi
FROM
(
  SELECT
    system, concat(`engine_type`, '/', `engine`) AS entity,
    toDateTime(toStartOfMinute(ts + toIntervalMillisecond(59999))) AS minute,
    metric, assumeNotNull(value_or_null) AS x
  FROM counterflow.system_cpu
  ARRAY JOIN
    ['system_cpu.user_pct', 'system_cpu.sys_pct', 'system_cpu.wait_pct', 'system_cpu.idle_pct', 'system_cpu.steal_pct', 'system_cpu.logical_engines', 'system_cpu.virtual_engines', 'system_cpu.entitled_cores', 'system_cpu.physical_consumed_cores', 'system_cpu.physical_user_cores', 'system_cpu.physical_sys_cores', 'system_cpu.physical_wait_cores', 'system_cpu.physical_idle_cores', 'system_cpu.scaled_user_cores', 'system_cpu.scaled_sys_cores', 'system_cpu.scaled_wait_cores', 'system_cpu.scaled_idle_cores', 'system_cpu.pool_cores', 'system_cpu.pool_idle_cores', 'system_cpu.pool_used_pct', 'system_cpu.folded_engines', 'system_cpu.busy_pct', 'system_cpu.cpu_ms', 'system_cpu.configured_cpu_ms', 'system_cpu.available_cpu_ms', 'system_cpu.uncapped_cpu_ms', 'system_cpu.scaled_cpu_ms', 'system_cpu.interactive_cpu_ms', 'system_cpu.sql_cpu_ms', 'system_cpu.hypervisor_ms', 'system_cpu.interrupt_ms', 'system_cpu.waittask_ms', 'system_cpu.donated_ms', 'system_cpu.wait_ready_ms', 'system_cpu.dispatch_latency_ms', 'system_cpu.wait_event_ms'] AS metric,
    [toNullable(toFloat64(`user_pct`)), toNullable(toFloat64(`sys_pct`)), toNullable(toFloat64(`wait_pct`)), toNullable(toFloat64(`idle_pct`)), toNullable(toFloat64(`steal_pct`)), toNullable(toFloat64(`logical_engines`)), toNullable(toFloat64(`virtual_engines`)), toNullable(toFloat64(`entitled_cores`)), toNullable(toFloat64(`physical_consumed_cores`)), toNullable(toFloat64(`physical_user_cores`)), toNullable(toFloat64(`physical_sys_cores`)), toNullable(toFloat64(`physical_wait_cores`)), toNullable(toFloat64(`physical_idle_cores`)), toNullable(toFloat64(`scaled_user_cores`)), toNullable(toFloat64(`scaled_sys_cores`)), toNullable(toFloat64(`scaled_wait_cores`)), toNullable(toFloat64(`scaled_idle_cores`)), toNullable(toFloat64(`pool_cores`)), toNullable(toFloat64(`pool_idle_cores`)), toNullable(toFloat64(`pool_used_pct`)), toNullable(toFloat64(`folded_engines`)), toNullable(toFloat64(`busy_pct`)), toNullable(toFloat64(`cpu_ms`)), toNullable(toFloat64(`configured_cpu_ms`)), toNullable(toFloat64(`available_cpu_ms`)), toNullable(toFloat64(`uncapped_cpu_ms`)), toNullable(toFloat64(`scaled_cpu_ms`)), toNullable(toFloat64(`interactive_cpu_ms`)), toNullable(toFloat64(`sql_cpu_ms`)), toNullable(toFloat64(`hypervisor_ms`)), toNullable(toFloat64(`interrupt_ms`)), toNullable(toFloat64(`waittask_ms`)), toNullable(toFloat64(`donated_ms`)), toNullable(toFloat64(`wait_ready_ms`)), toNullable(toFloat64(`dispatch_latency_ms`)), toNullable(toFloat64(`wait_event_ms`))] AS value_or_null
  WHERE value_or_null IS NOT NULL
);
