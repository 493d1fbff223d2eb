CREATE TABLE IF NOT EXISTS counterflow.log_load {on_cluster}
(
  `ts` DateTime64(3, 'UTC') COMMENT 'End of the interval, UTC.' CODEC(Delta, ZSTD(1)),
  `interval_s` Nullable(Float64) COMMENT 'Length of the interval. [s; gauge; null: the inputs give no length]' CODEC(ZSTD(1)),
  `system` LowCardinality(String) COMMENT 'Name of the system.' CODEC(ZSTD(1)),
  `n` UInt64 COMMENT 'Distinct input rows the result is made of; less than the manifest\'s rows means provisional. [rows; gauge]' CODEC(T64, ZSTD(1)),
  `subsystem` LowCardinality(String) COMMENT 'Subsystem (member of a data sharing group) whose log it is.' CODEC(ZSTD(1)),
  `member` LowCardinality(Nullable(String)) COMMENT 'Member name in its data sharing group. [null: not reported, or no data sharing]' CODEC(ZSTD(1)),
  `path` LowCardinality(Nullable(String)) COMMENT 'Path of the log writes: `zhpf` (FICON, High Performance) or `zhl` (zHyperLink). [null: not reported]' CODEC(ZSTD(1)),
  `copies` Nullable(Float64) COMMENT 'Log copies that are written. [copies; gauge; null: not reported]' CODEC(ZSTD(1)),
  `rate_mb_s` Nullable(Float64) COMMENT 'Log written to one copy, of what `rate_basis` says. [MB/s; rate; null: not reported, first sample, restart, or gap]' CODEC(ZSTD(1)),
  `rate_basis` LowCardinality(Nullable(String)) COMMENT 'What `rate_mb_s` is made of: CIs `written`, rewrites among them, CIs `created`, or the rate as the source states it. They differ; do not compare across. [null: no rate]' CODEC(ZSTD(1)),
  `written_mb_s` Nullable(Float64) COMMENT 'CIs written, of one copy; a CI written again counts again. [MB/s; rate; null: CIs written or copies not reported, first sample, restart, or gap]' CODEC(ZSTD(1)),
  `created_mb_s` Nullable(Float64) COMMENT 'CIs created, of which each copy gets each once. [MB/s; rate; null: not reported, first sample, restart, or gap]' CODEC(ZSTD(1)),
  `ceiling_mb_s` Nullable(Float64) COMMENT 'Ceiling of one copy, as configured for the time of the interval. [MB/s; gauge; null: none is configured for the subsystem, path and time]' CODEC(ZSTD(1)),
  `ceiling_since` Nullable(DateTime64(3, 'UTC')) COMMENT 'Time from which that ceiling holds, UTC. [null: none is configured for the subsystem, path and time]' CODEC(Delta, ZSTD(1)),
  `ceiling_pct` Nullable(Float64) COMMENT 'Rate of the ceiling. [%; percent; null: no rate or no ceiling]' CODEC(ZSTD(1)),
  `waits_delta` Nullable(Float64) COMMENT 'Waits for an unavailable log output buffer. [waits; delta; null: not reported, first sample, restart, or gap]' CODEC(ZSTD(1)),
  `waiting_threads` Nullable(Float64) COMMENT 'Mean number of threads that wait for the log: time waited / time. [threads; gauge; null: not reported, first sample, restart, or gap]' CODEC(ZSTD(1)),
  `active_threads` Nullable(Float64) COMMENT 'Mean number of active threads. [threads; gauge; null: not reported]' CODEC(ZSTD(1)),
  `log_write_ms` Nullable(Float64) COMMENT 'Wait of a thread for a log write, mean. [ms; gauge; null: not reported, nothing waited, first sample, restart, or gap]' CODEC(ZSTD(1)),
  `ci_per_io` Nullable(Float64) COMMENT 'CIs that a log write I/O writes. [CIs; gauge; null: not reported, no I/O, first sample, restart, or gap]' CODEC(ZSTD(1)),
  `zhl_sync_pct` Nullable(Float64) COMMENT 'zHyperLink log writes done synchronously: as the source states it, else of its counters. [%; percent; null: not reported, no zHyperLink write, first sample, restart, or gap]' CODEC(ZSTD(1)),
  `gcp_pct` Nullable(Float64) COMMENT 'Utilisation of the general processors of the system, mean of the interval. [%; percent; null: not reported for that time]' CODEC(ZSTD(1)),
  `ziip_pct` Nullable(Float64) COMMENT 'Utilisation of the zIIPs of the system, mean of the interval. [%; percent; null: not reported for that time]' CODEC(ZSTD(1)),
  `reset` Nullable(Bool) COMMENT 'A running count is less than in the preceding sample; the rates are then null. [null: no preceding sample of a running count]' CODEC(ZSTD(1)),
  landed_at DateTime('UTC') MATERIALIZED now() COMMENT 'When the row was inserted, UTC; not in SELECT *.' CODEC(Delta, ZSTD(1)),
  CONSTRAINT ts_sane CHECK ts >= '2000-01-01'
)
ENGINE = {engine_prefix}ReplacingMergeTree(n)
PARTITION BY toYYYYMMDD(ts)
ORDER BY (system, subsystem, ts)
TTL landed_at + INTERVAL 400 DAY
SETTINGS non_replicated_deduplication_window = 10000, replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800, ttl_only_drop_parts = 1, min_bytes_for_wide_part = 134217728
COMMENT 'The active log of one Db2 subsystem over one interval, beside its ceiling and the processors of that time.';
