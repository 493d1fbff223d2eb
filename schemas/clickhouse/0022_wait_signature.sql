CREATE TABLE IF NOT EXISTS counterflow.wait_signature {on_cluster}
(
  `ts` DateTime64(3, 'UTC') COMMENT 'End of the interval, UTC.' CODEC(Delta, ZSTD(1)),
  `interval_s` Nullable(Float64) COMMENT 'Length of the interval. [s; gauge; null: the inputs give no length]' CODEC(ZSTD(1)),
  `system` LowCardinality(String) COMMENT 'Name of the system.' CODEC(ZSTD(1)),
  `n` UInt64 COMMENT 'Distinct input rows the result is made of; less than the manifest\'s rows means provisional. [rows; gauge]' CODEC(T64, ZSTD(1)),
  `task` LowCardinality(String) COMMENT 'Task count in hexadecimal; `*` for the whole system.' CODEC(ZSTD(1)),
  `job` LowCardinality(Nullable(String)) COMMENT 'Job as in the dataset job. [null: no row of the dataset job has the task, or the system]' CODEC(ZSTD(1)),
  `job_name` LowCardinality(Nullable(String)) COMMENT 'Name of the job. [null: as job]' CODEC(ZSTD(1)),
  `job_user` LowCardinality(Nullable(String)) COMMENT 'User of the job\'s identity. [null: as job]' CODEC(ZSTD(1)),
  `subsystem` LowCardinality(Nullable(String)) COMMENT 'Subsystem of the job. [null: as job or not reported]' CODEC(ZSTD(1)),
  `dispatched_cpu_s` Float64 COMMENT 'Time running on processors. [s; delta]' CODEC(ZSTD(1)),
  `cpu_queueing_s` Float64 COMMENT 'Time waiting for a processor. [s; delta]' CODEC(ZSTD(1)),
  `disk_s` Float64 COMMENT 'Time waiting for disks. [s; delta]' CODEC(ZSTD(1)),
  `journaling_s` Float64 COMMENT 'Time waiting for journals. [s; delta]' CODEC(ZSTD(1)),
  `operating_system_contention_s` Float64 COMMENT 'Time waiting for locks inside the operating system, seizes among them. [s; delta]' CODEC(ZSTD(1)),
  `lock_contention_s` Float64 COMMENT 'Time waiting for record and object locks. [s; delta]' CODEC(ZSTD(1)),
  `ineligible_s` Float64 COMMENT 'Time waiting for an activity level of the pool. [s; delta]' CODEC(ZSTD(1)),
  `other_s` Float64 COMMENT 'Time waiting in every other bucket: idle, sockets, data queues and what has no group. [s; delta]' CODEC(ZSTD(1)),
  `total_s` Float64 COMMENT 'Time in all of them: for a task, about the length of the interval. [s; delta]' CODEC(ZSTD(1)),
  `dispatched_cpu_waits` Nullable(Float64) COMMENT 'Waits that ended in the group. [waits; delta; null: not reported]' CODEC(ZSTD(1)),
  `cpu_queueing_waits` Nullable(Float64) COMMENT 'Waits that ended in the group. [waits; delta; null: not reported]' CODEC(ZSTD(1)),
  `disk_waits` Nullable(Float64) COMMENT 'Waits that ended in the group. [waits; delta; null: not reported]' CODEC(ZSTD(1)),
  `journaling_waits` Nullable(Float64) COMMENT 'Waits that ended in the group. [waits; delta; null: not reported]' CODEC(ZSTD(1)),
  `operating_system_contention_waits` Nullable(Float64) COMMENT 'Waits that ended in the group. [waits; delta; null: not reported]' CODEC(ZSTD(1)),
  `lock_contention_waits` Nullable(Float64) COMMENT 'Waits that ended in the group. [waits; delta; null: not reported]' CODEC(ZSTD(1)),
  `ineligible_waits` Nullable(Float64) COMMENT 'Waits that ended in the group. [waits; delta; null: not reported]' CODEC(ZSTD(1)),
  `other_waits` Nullable(Float64) COMMENT 'Waits that ended in the group. [waits; delta; null: not reported]' CODEC(ZSTD(1)),
  landed_at DateTime('UTC') MATERIALIZED now() COMMENT 'When the row was inserted, UTC; not in SELECT *.' CODEC(Delta, ZSTD(1)),
  CONSTRAINT ts_sane CHECK ts >= '2000-01-01'
)
ENGINE = {engine_prefix}ReplacingMergeTree(n)
PARTITION BY toYYYYMMDD(ts)
ORDER BY (system, task, ts)
TTL landed_at + INTERVAL 400 DAY
SETTINGS non_replicated_deduplication_window = 10000, replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800, ttl_only_drop_parts = 1, min_bytes_for_wide_part = 134217728
COMMENT 'What one task, or all of a system together (`task` = `*`), ran and waited for over one interval, in the groups of Performance Data Investigator. The view `wait_profile` has it by subsystem, user, job and generic job.';
