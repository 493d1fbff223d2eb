CREATE TABLE IF NOT EXISTS counterflow.db_log {on_cluster}
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
  `subsystem` LowCardinality(String) COMMENT 'Subsystem (member of a data sharing group) whose log it is.' CODEC(ZSTD(1)),
  `member` LowCardinality(Nullable(String)) COMMENT 'Member name in its data sharing group. [null: not reported, or no data sharing]' CODEC(ZSTD(1)),
  `log_path` LowCardinality(Nullable(String)) COMMENT 'Path of the log writes: `zhpf` (FICON, High Performance) or `zhl` (zHyperLink). [null: not reported]' CODEC(ZSTD(1)),
  `copies` Nullable(Float64) COMMENT 'Log copies that ci_written counts together. [copies; gauge; null: not reported]' CODEC(ZSTD(1)),
  `active_threads` Nullable(Float64) COMMENT 'Mean number of active threads. [threads; gauge; null: not reported]' CODEC(ZSTD(1)),
  `zhl_sync_pct` Nullable(Float64) COMMENT 'Share of the zHyperLink writes done synchronously: as the source states it, or since its preceding report. [%; percent; null: not reported]' CODEC(ZSTD(1)),
  `log_rate_mb_s` Nullable(Float64) COMMENT 'Log rate of one copy as the source states it; of what it makes it, the source does not say. [MB/s; rate; null: not reported]' CODEC(ZSTD(1)),
  `prev_ts` Nullable(DateTime64(3, 'UTC')) COMMENT 'Time of the preceding sample of the running counts, UTC. [null: no preceding sample, samples missing in between, or the counters restarted]' CODEC(Delta, ZSTD(1)),
  `ci_written` Nullable(Float64) COMMENT 'Log control intervals written, all copies, each rewrite counted again. [CIs of 4 KiB; cumulative; null: the source keeps no running count]' CODEC(Delta, ZSTD(1)),
  `ci_created` Nullable(Float64) COMMENT 'Active-log output control intervals created: one copy, no rewrites. [CIs of 4 KiB; cumulative; null: the source keeps no running count]' CODEC(Delta, ZSTD(1)),
  `write_ios` Nullable(Float64) COMMENT 'Log write I/O requests, both copies. [I/Os; cumulative; null: the source keeps no running count]' CODEC(Delta, ZSTD(1)),
  `write_calls` Nullable(Float64) COMMENT 'Calls to write log buffers. [calls; cumulative; null: the source keeps no running count]' CODEC(Delta, ZSTD(1)),
  `buffer_waits` Nullable(Float64) COMMENT 'Waits for an unavailable log output buffer. [waits; cumulative; null: the source keeps no running count]' CODEC(Delta, ZSTD(1)),
  `buffers_paged_in` Nullable(Float64) COMMENT 'Output log buffers paged in; should stay 0. [pages; cumulative; null: the source keeps no running count]' CODEC(Delta, ZSTD(1)),
  `threshold_writes` Nullable(Float64) COMMENT 'Writes scheduled because the write threshold was reached. [writes; cumulative; null: the source keeps no running count]' CODEC(Delta, ZSTD(1)),
  `serial_ci_written` Nullable(Float64) COMMENT 'Control intervals written one copy after the other. [CIs of 4 KiB; cumulative; null: the source keeps no running count]' CODEC(Delta, ZSTD(1)),
  `zhl_log_writes` Nullable(Float64) COMMENT 'Log writes through zHyperLink. [writes; cumulative; null: the source keeps no running count]' CODEC(Delta, ZSTD(1)),
  `zhl_log_write_fail_sync` Nullable(Float64) COMMENT 'Log writes through zHyperLink that were not done synchronously. [writes; cumulative; null: the source keeps no running count]' CODEC(Delta, ZSTD(1)),
  `log_write_wait_us` Nullable(Float64) COMMENT 'Time that threads waited for log writes (class 3, summed over threads). [µs; cumulative; null: the source keeps no running count]' CODEC(Delta, ZSTD(1)),
  `log_write_waits` Nullable(Float64) COMMENT 'Waits of threads for log writes. [waits; cumulative; null: the source keeps no running count]' CODEC(Delta, ZSTD(1)),
  `prev_ci_written` Nullable(Float64) COMMENT '`ci_written` at prev_ts. [CIs of 4 KiB; cumulative; null: no preceding sample, samples missing in between, or the counters restarted]' CODEC(Delta, ZSTD(1)),
  `prev_ci_created` Nullable(Float64) COMMENT '`ci_created` at prev_ts. [CIs of 4 KiB; cumulative; null: no preceding sample, samples missing in between, or the counters restarted]' CODEC(Delta, ZSTD(1)),
  `prev_write_ios` Nullable(Float64) COMMENT '`write_ios` at prev_ts. [I/Os; cumulative; null: no preceding sample, samples missing in between, or the counters restarted]' CODEC(Delta, ZSTD(1)),
  `prev_write_calls` Nullable(Float64) COMMENT '`write_calls` at prev_ts. [calls; cumulative; null: no preceding sample, samples missing in between, or the counters restarted]' CODEC(Delta, ZSTD(1)),
  `prev_buffer_waits` Nullable(Float64) COMMENT '`buffer_waits` at prev_ts. [waits; cumulative; null: no preceding sample, samples missing in between, or the counters restarted]' CODEC(Delta, ZSTD(1)),
  `prev_buffers_paged_in` Nullable(Float64) COMMENT '`buffers_paged_in` at prev_ts. [pages; cumulative; null: no preceding sample, samples missing in between, or the counters restarted]' CODEC(Delta, ZSTD(1)),
  `prev_threshold_writes` Nullable(Float64) COMMENT '`threshold_writes` at prev_ts. [writes; cumulative; null: no preceding sample, samples missing in between, or the counters restarted]' CODEC(Delta, ZSTD(1)),
  `prev_serial_ci_written` Nullable(Float64) COMMENT '`serial_ci_written` at prev_ts. [CIs of 4 KiB; cumulative; null: no preceding sample, samples missing in between, or the counters restarted]' CODEC(Delta, ZSTD(1)),
  `prev_zhl_log_writes` Nullable(Float64) COMMENT '`zhl_log_writes` at prev_ts. [writes; cumulative; null: no preceding sample, samples missing in between, or the counters restarted]' CODEC(Delta, ZSTD(1)),
  `prev_zhl_log_write_fail_sync` Nullable(Float64) COMMENT '`zhl_log_write_fail_sync` at prev_ts. [writes; cumulative; null: no preceding sample, samples missing in between, or the counters restarted]' CODEC(Delta, ZSTD(1)),
  `prev_log_write_wait_us` Nullable(Float64) COMMENT '`log_write_wait_us` at prev_ts. [µs; cumulative; null: no preceding sample, samples missing in between, or the counters restarted]' CODEC(Delta, ZSTD(1)),
  `prev_log_write_waits` Nullable(Float64) COMMENT '`log_write_waits` at prev_ts. [waits; cumulative; null: no preceding sample, samples missing in between, or the counters restarted]' CODEC(Delta, ZSTD(1)),
  `ci_written_delta` Nullable(Float64) COMMENT 'As ci_written, of the interval. [CIs of 4 KiB; delta; null: the source keeps running counts]' CODEC(ZSTD(1)),
  `ci_created_delta` Nullable(Float64) COMMENT 'As ci_created, of the interval. [CIs of 4 KiB; delta; null: the source keeps running counts]' CODEC(ZSTD(1)),
  `write_ios_delta` Nullable(Float64) COMMENT 'As write_ios, of the interval. [I/Os; delta; null: the source keeps running counts]' CODEC(ZSTD(1)),
  `buffer_waits_delta` Nullable(Float64) COMMENT 'As buffer_waits, of the interval. [waits; delta; null: the source keeps running counts]' CODEC(ZSTD(1)),
  `buffers_paged_in_delta` Nullable(Float64) COMMENT 'As buffers_paged_in, of the interval. [pages; delta; null: the source keeps running counts]' CODEC(ZSTD(1)),
  landed_at DateTime('UTC') MATERIALIZED now() COMMENT 'When the row was inserted, UTC; not in SELECT *.' CODEC(Delta, ZSTD(1)),
  CONSTRAINT ts_sane CHECK ts >= '2000-01-01'
)
ENGINE = {engine_prefix}ReplacingMergeTree(collected_at)
PARTITION BY toYYYYMMDD(ts)
ORDER BY (system, subsystem, ts)
TTL landed_at + INTERVAL 400 DAY
SETTINGS non_replicated_deduplication_window = 10000, replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800, ttl_only_drop_parts = 1, min_bytes_for_wide_part = 134217728
COMMENT 'The active log of one Db2 subsystem at one sample.';

CREATE MATERIALIZED VIEW IF NOT EXISTS counterflow.db_log_to_ledger {on_cluster} TO counterflow.ledger AS
SELECT agent_id, 'db_log' AS dataset, toDate(collected_at) AS day, count() AS rows, groupBitmapState(seq) AS seqs
FROM counterflow.db_log
GROUP BY agent_id, day;

CREATE MATERIALIZED VIEW IF NOT EXISTS counterflow.db_log_to_1m {on_cluster} TO counterflow.metric_1m AS
SELECT metric, system, entity AS instance, minute AS ts, toUInt64(1) AS n, x AS total, x AS lo, x AS hi
FROM
(
  SELECT
    system, `subsystem` AS entity,
    toDateTime(toStartOfMinute(ts + toIntervalMillisecond(59999))) AS minute,
    metric, assumeNotNull(value_or_null) AS x
  FROM counterflow.db_log
  ARRAY JOIN
    ['db_log.copies', 'db_log.active_threads', 'db_log.zhl_sync_pct', 'db_log.log_rate_mb_s', 'db_log.ci_written', 'db_log.ci_created', 'db_log.write_ios', 'db_log.write_calls', 'db_log.buffer_waits', 'db_log.buffers_paged_in', 'db_log.threshold_writes', 'db_log.serial_ci_written', 'db_log.zhl_log_writes', 'db_log.zhl_log_write_fail_sync', 'db_log.log_write_wait_us', 'db_log.log_write_waits', 'db_log.prev_ci_written', 'db_log.prev_ci_created', 'db_log.prev_write_ios', 'db_log.prev_write_calls', 'db_log.prev_buffer_waits', 'db_log.prev_buffers_paged_in', 'db_log.prev_threshold_writes', 'db_log.prev_serial_ci_written', 'db_log.prev_zhl_log_writes', 'db_log.prev_zhl_log_write_fail_sync', 'db_log.prev_log_write_wait_us', 'db_log.prev_log_write_waits', 'db_log.ci_written_delta', 'db_log.ci_created_delta', 'db_log.write_ios_delta', 'db_log.buffer_waits_delta', 'db_log.buffers_paged_in_delta'] AS metric,
    [toNullable(toFloat64(`copies`)), toNullable(toFloat64(`active_threads`)), toNullable(toFloat64(`zhl_sync_pct`)), toNullable(toFloat64(`log_rate_mb_s`)), toNullable(toFloat64(`ci_written`)), toNullable(toFloat64(`ci_created`)), toNullable(toFloat64(`write_ios`)), toNullable(toFloat64(`write_calls`)), toNullable(toFloat64(`buffer_waits`)), toNullable(toFloat64(`buffers_paged_in`)), toNullable(toFloat64(`threshold_writes`)), toNullable(toFloat64(`serial_ci_written`)), toNullable(toFloat64(`zhl_log_writes`)), toNullable(toFloat64(`zhl_log_write_fail_sync`)), toNullable(toFloat64(`log_write_wait_us`)), toNullable(toFloat64(`log_write_waits`)), toNullable(toFloat64(`prev_ci_written`)), toNullable(toFloat64(`prev_ci_created`)), toNullable(toFloat64(`prev_write_ios`)), toNullable(toFloat64(`prev_write_calls`)), toNullable(toFloat64(`prev_buffer_waits`)), toNullable(toFloat64(`prev_buffers_paged_in`)), toNullable(toFloat64(`prev_threshold_writes`)), toNullable(toFloat64(`prev_serial_ci_written`)), toNullable(toFloat64(`prev_zhl_log_writes`)), toNullable(toFloat64(`prev_zhl_log_write_fail_sync`)), toNullable(toFloat64(`prev_log_write_wait_us`)), toNullable(toFloat64(`prev_log_write_waits`)), toNullable(toFloat64(`ci_written_delta`)), toNullable(toFloat64(`ci_created_delta`)), toNullable(toFloat64(`write_ios_delta`)), toNullable(toFloat64(`buffer_waits_delta`)), toNullable(toFloat64(`buffers_paged_in_delta`))] AS value_or_null
  WHERE value_or_null IS NOT NULL
);
