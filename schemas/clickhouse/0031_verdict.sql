CREATE TABLE IF NOT EXISTS counterflow.verdict {on_cluster}
(
  `ts` DateTime64(3, 'UTC') COMMENT 'End of the interval, UTC.' CODEC(Delta, ZSTD(1)),
  `interval_s` Nullable(Float64) COMMENT 'Length of the interval. [s; gauge; null: the inputs give no length]' CODEC(ZSTD(1)),
  `system` LowCardinality(String) COMMENT 'Name of the system.' CODEC(ZSTD(1)),
  `n` UInt64 COMMENT 'Distinct input rows the result is made of; less than the manifest\'s rows means provisional. [rows; gauge]' CODEC(T64, ZSTD(1)),
  `rule` LowCardinality(String) COMMENT 'Name of the rule.' CODEC(ZSTD(1)),
  `entity_type` LowCardinality(String) COMMENT 'What is judged: the link_type of a link, or `log`.' CODEC(ZSTD(1)),
  `entity` LowCardinality(String) COMMENT 'Its name within the system.' CODEC(ZSTD(1)),
  `state` LowCardinality(String) COMMENT 'State of the entity, after raising and clearing.' CODEC(ZSTD(1)),
  `signal` LowCardinality(Nullable(String)) COMMENT 'What the interval says by itself. [null: the interval allows no verdict]' CODEC(ZSTD(1)),
  `stale` Bool COMMENT 'The interval allows no verdict; the state is that of the interval before.' CODEC(ZSTD(1)),
  `reason` String COMMENT 'The figures that decided.' CODEC(ZSTD(1)),
  `since` DateTime64(3, 'UTC') COMMENT 'End of the first interval in which the entity was in this state without a break, UTC.' CODEC(Delta, ZSTD(1)),
  `evidence` String COMMENT 'Inputs, derived figures and thresholds that decided, as JSON.' CODEC(ZSTD(1)),
  `parameters` LowCardinality(String) COMMENT 'SHA-256 of the rule\'s parameters by name, the first 16 digits; two verdicts compare only with the same.' CODEC(ZSTD(1)),
  landed_at DateTime('UTC') MATERIALIZED now() COMMENT 'When the row was inserted, UTC; not in SELECT *.' CODEC(Delta, ZSTD(1)),
  CONSTRAINT ts_sane CHECK ts >= '2000-01-01'
)
ENGINE = {engine_prefix}ReplacingMergeTree(n)
PARTITION BY toYYYYMMDD(ts)
ORDER BY (rule, system, entity_type, entity, ts)
TTL landed_at + INTERVAL 400 DAY
SETTINGS non_replicated_deduplication_window = 10000, replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800, ttl_only_drop_parts = 1, min_bytes_for_wide_part = 134217728
COMMENT 'What a rule says of one thing in one interval; said again when an interval before it, or its own, is completed.';
