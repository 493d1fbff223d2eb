CREATE TABLE IF NOT EXISTS counterflow.account_cpu {on_cluster}
(
  `ts` DateTime64(3, 'UTC') COMMENT 'End of the interval, UTC.' CODEC(Delta, ZSTD(1)),
  `interval_s` Nullable(Float64) COMMENT 'Length of the interval. [s; gauge; null: the inputs give no length]' CODEC(ZSTD(1)),
  `system` LowCardinality(String) COMMENT 'Name of the system.' CODEC(ZSTD(1)),
  `n` UInt64 COMMENT 'Distinct input rows the result is made of; less than the manifest\'s rows means provisional. [rows; gauge]' CODEC(T64, ZSTD(1)),
  `workload` LowCardinality(String) COMMENT 'Name of the batch, driver or query stream.' CODEC(ZSTD(1)),
  `basis` LowCardinality(String) COMMENT 'Processor time of what: `lpar` is utilisation × engines, all that ran on the system; `captured` is what address spaces account for. Not equal, never to be mixed.' CODEC(ZSTD(1)),
  `samples` UInt64 COMMENT 'Rows of the dataset workload among n, those of single operations and summaries too; counted for `lpar`. [rows; gauge]' CODEC(T64, ZSTD(1)),
  `unit_of_work` LowCardinality(Nullable(String)) COMMENT 'What is called account here: accounts, transactions, operations, queries. [null: not reported]' CODEC(ZSTD(1)),
  `run_id` LowCardinality(Nullable(String)) COMMENT 'Execution of the workload; the greatest where several end at one time. [null: no row of all operations together]' CODEC(ZSTD(1)),
  `accounts` Nullable(Float64) COMMENT 'Units of work done in the interval. [accounts; delta; null: first sample, went backwards, gap, or several runs at one time]' CODEC(ZSTD(1)),
  `accounts_per_hour` Nullable(Float64) COMMENT 'Units of work an hour at the pace of the interval. [accounts/h; rate; null: as accounts]' CODEC(ZSTD(1)),
  `gcp_ms_per_account` Nullable(Float64) COMMENT 'Time of general processors of one unit of work. [ms; gauge; null: accounts unknown or none, or processors unknown]' CODEC(ZSTD(1)),
  `ziip_ms_per_account` Nullable(Float64) COMMENT 'Time of zIIPs of one unit of work. [ms; gauge; null: accounts unknown or none, or zIIPs unknown]' CODEC(ZSTD(1)),
  `ziip_on_cp_ms_per_account` Nullable(Float64) COMMENT 'Part of gcp_ms_per_account that was eligible for zIIP: what zIIPs could not take. [ms; gauge; null: accounts unknown or none, or basis is lpar]' CODEC(ZSTD(1)),
  `core_ms_per_account` Nullable(Float64) COMMENT 'Time of processors of `core_base` of one unit of work. [ms; gauge; null: accounts unknown or none, not Power or Linux, or basis is captured]' CODEC(ZSTD(1)),
  `gcp_pct` Nullable(Float64) COMMENT 'Utilisation of the general processors. [%; percent; null: not reported for that time, or basis is captured]' CODEC(ZSTD(1)),
  `gcp_engines` Nullable(Float64) COMMENT 'General processors online. [processors; gauge; null: not reported for that time, or basis is captured]' CODEC(ZSTD(1)),
  `ziip_pct` Nullable(Float64) COMMENT 'Utilisation of the zIIPs. [%; percent; null: not reported for that time, or basis is captured]' CODEC(ZSTD(1)),
  `ziip_engines` Nullable(Float64) COMMENT 'zIIPs online. [processors; gauge; null: not reported for that time, or basis is captured]' CODEC(ZSTD(1)),
  `cores_used` Nullable(Float64) COMMENT 'Processors of `core_base` kept busy. [processors; gauge; null: not Power or Linux, not reported for that time, or basis is captured]' CODEC(ZSTD(1)),
  `core_base` LowCardinality(Nullable(String)) COMMENT 'What a core is: `physical` cores consumed, or `logical` processors where the source knows no other. [null: no cores_used]' CODEC(ZSTD(1)),
  `log_mb_s` Nullable(Float64) COMMENT 'Log of all Db2 subsystems of the system, one copy of each, as log_load takes its rate. [MB/s; rate; null: log not known for that time, from two sources, or basis is captured]' CODEC(ZSTD(1)),
  `log_bytes_per_account` Nullable(Float64) COMMENT 'Log of one unit of work; where it moves by more than 5 % the workload changed. [bytes; gauge; null: accounts unknown or none, or log unknown]' CODEC(ZSTD(1)),
  `batch_units` Nullable(Float64) COMMENT 'Units of work of the whole batch, as configured for the time of the interval. [accounts; gauge; null: no batch is configured for the workload and time]' CODEC(ZSTD(1)),
  `batch_h` Nullable(Float64) COMMENT 'What the whole batch would take at this pace. [h; gauge; null: no batch configured, accounts unknown or none]' CODEC(ZSTD(1)),
  `missing` LowCardinality(Nullable(String)) COMMENT 'Why costs are null: `accounts` (unknown), `several runs` (at one time), `no accounts done`, `processors` (not known for that time), `two sources` (of captured time). [null: nothing is missing]' CODEC(ZSTD(1)),
  landed_at DateTime('UTC') MATERIALIZED now() COMMENT 'When the row was inserted, UTC; not in SELECT *.' CODEC(Delta, ZSTD(1)),
  CONSTRAINT ts_sane CHECK ts >= '2000-01-01'
)
ENGINE = {engine_prefix}ReplacingMergeTree(n)
PARTITION BY toYYYYMMDD(ts)
ORDER BY (system, workload, basis, ts)
TTL landed_at + INTERVAL 400 DAY
SETTINGS non_replicated_deduplication_window = 10000, replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800, ttl_only_drop_parts = 1, min_bytes_for_wide_part = 134217728
COMMENT 'What one unit of work (account, transaction) of one workload cost over one interval, by one way of counting processor time.';
