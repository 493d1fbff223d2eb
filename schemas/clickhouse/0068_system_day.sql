-- Which systems there are, and since when and until when each has data: a row a system and day, so that a year of a
-- thousand systems is listed at once. Always aggregate again when reading.
CREATE TABLE IF NOT EXISTS counterflow.system_day {on_cluster}
(
  system LowCardinality(String) COMMENT 'Name of the system.' CODEC(ZSTD(1)),
  day Date COMMENT 'Day of the intervals, UTC.',
  first_ts SimpleAggregateFunction(min, DateTime64(3, 'UTC')) COMMENT 'End of the first interval of the day, UTC.',
  last_ts SimpleAggregateFunction(max, DateTime64(3, 'UTC')) COMMENT 'End of the last interval of the day, UTC.'
)
ENGINE = {engine_prefix}AggregatingMergeTree
PARTITION BY toYYYYMM(day)
ORDER BY (day, system)
TTL day + INTERVAL 430 DAY
SETTINGS non_replicated_deduplication_window = 100000, replicated_deduplication_window = 100000, replicated_deduplication_window_seconds = 604800, ttl_only_drop_parts = 1
COMMENT 'Systems by day, from the manifests.';

CREATE MATERIALIZED VIEW IF NOT EXISTS counterflow.manifest_to_system_day {on_cluster} TO counterflow.system_day AS
SELECT system, toDate(ts, 'UTC') AS day, min(ts) AS first_ts, max(ts) AS last_ts
FROM counterflow.manifest
GROUP BY system, day;
