-- Which systems have which counters, by day: a board lists those that it has something to show of.
CREATE TABLE IF NOT EXISTS counterflow.system_dataset {on_cluster}
(
  day Date COMMENT 'Day of the intervals, UTC.',
  dataset LowCardinality(String) COMMENT 'Dataset of the counters.' CODEC(ZSTD(1)),
  source LowCardinality(String) COMMENT 'Format they were read from.' CODEC(ZSTD(1)),
  system LowCardinality(String) COMMENT 'Name of the system.' CODEC(ZSTD(1))
)
ENGINE = {engine_prefix}ReplacingMergeTree
PARTITION BY toYYYYMM(day)
ORDER BY (dataset, source, system, day)
TTL day + INTERVAL 430 DAY
SETTINGS non_replicated_deduplication_window = 100000, replicated_deduplication_window = 100000, replicated_deduplication_window_seconds = 604800, ttl_only_drop_parts = 1
COMMENT 'Systems by day and counters that they have, from the manifests.';

INSERT INTO counterflow.system_dataset (day, dataset, source, system)
SELECT DISTINCT toDate(ts, 'UTC') AS day, counted, source, system
FROM counterflow.manifest
SETTINGS insert_deduplication_token = 'system_dataset', max_partitions_per_insert_block = 0;

CREATE MATERIALIZED VIEW IF NOT EXISTS counterflow.manifest_to_system_dataset {on_cluster} TO counterflow.system_dataset AS
SELECT DISTINCT toDate(ts, 'UTC') AS day, counted AS dataset, source, system
FROM counterflow.manifest;
