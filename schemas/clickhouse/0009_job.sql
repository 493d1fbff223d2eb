CREATE TABLE IF NOT EXISTS counterflow.job {on_cluster}
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
  `job` LowCardinality(String) COMMENT 'Job identity; on AIX and Linux the process id.' CODEC(ZSTD(1)),
  `command` LowCardinality(String) COMMENT 'Program name.' CODEC(ZSTD(1)),
  `workload_class` LowCardinality(Nullable(String)) COMMENT 'Workload Manager class. [null: not AIX or no WLM]' CODEC(ZSTD(1)),
  `cpu_ms` Nullable(Float64) COMMENT 'Processor time in the interval on `cpu_base`. [ms; delta; null: not reported]' CODEC(ZSTD(1)),
  `cpu_user_ms` Nullable(Float64) COMMENT 'Part of cpu_ms in user mode. [ms; delta; null: not reported]' CODEC(ZSTD(1)),
  `cpu_sys_ms` Nullable(Float64) COMMENT 'Part of cpu_ms in system mode. [ms; delta; null: not reported]' CODEC(ZSTD(1)),
  `cpu_base` LowCardinality(Nullable(String)) COMMENT 'What one second of CPU is: of one `logical` processor (Linux), or of one `physical` core (AIX). [null: no CPU figure]' CODEC(ZSTD(1)),
  `threads` Nullable(Float64) COMMENT 'Threads. [threads; gauge; null: not reported]' CODEC(ZSTD(1)),
  `size_kb` Nullable(Float64) COMMENT 'Virtual size. [KB of 1,024 bytes; gauge; null: not reported]' CODEC(ZSTD(1)),
  `resident_kb` Nullable(Float64) COMMENT 'Resident set, shared pages included (Linux). [KB of 1,024 bytes; gauge; null: not reported]' CODEC(ZSTD(1)),
  `resident_text_kb` Nullable(Float64) COMMENT 'Resident program text; shared by all processes of a command. [KB of 1,024 bytes; gauge; null: not reported]' CODEC(ZSTD(1)),
  `resident_data_kb` Nullable(Float64) COMMENT 'Resident private data. [KB of 1,024 bytes; gauge; null: not reported]' CODEC(ZSTD(1)),
  `shared_kb` Nullable(Float64) COMMENT 'Shared library pages. [KB of 1,024 bytes; gauge; null: not Linux]' CODEC(ZSTD(1)),
  `minor_faults` Nullable(Float64) COMMENT 'Page faults without I/O. [faults; delta; null: not Linux]' CODEC(ZSTD(1)),
  `major_faults` Nullable(Float64) COMMENT 'Page faults with I/O. [faults; delta; null: not Linux]' CODEC(ZSTD(1)),
  `char_io_kb` Nullable(Float64) COMMENT 'Data read and written through system calls. [KB of 1,024 bytes; delta; null: not AIX]' CODEC(ZSTD(1)),
  `memory_pct` Nullable(Float64) COMMENT 'Share of real memory. [%; percent; null: not AIX]' CODEC(ZSTD(1)),
  `paging_space_kb` Nullable(Float64) COMMENT 'Paging space used. [KB of 1,024 bytes; gauge; null: not AIX]' CODEC(ZSTD(1)),
  `io_wait_ms` Nullable(Float64) COMMENT 'Time waiting for block I/O. [ms; delta; null: not reported]' CODEC(ZSTD(1)),
  landed_at DateTime('UTC') MATERIALIZED now() COMMENT 'When the row was inserted, UTC; not in SELECT *.' CODEC(Delta, ZSTD(1)),
  CONSTRAINT ts_sane CHECK ts >= '2000-01-01'
)
ENGINE = {engine_prefix}ReplacingMergeTree(collected_at)
PARTITION BY toYYYYMMDD(ts)
ORDER BY (system, job, ts)
TTL landed_at + INTERVAL 400 DAY
SETTINGS non_replicated_deduplication_window = 10000, replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800, ttl_only_drop_parts = 1
COMMENT 'One job or process of one system over one interval.';

CREATE MATERIALIZED VIEW IF NOT EXISTS counterflow.job_to_ledger {on_cluster} TO counterflow.ledger AS
SELECT agent_id, 'job' AS dataset, toDate(collected_at) AS day, count() AS rows, groupBitmapState(seq) AS seqs
FROM counterflow.job
GROUP BY agent_id, day;
