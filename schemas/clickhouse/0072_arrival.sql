-- How long intervals were under way from the agent to the tables, by hour: what a long range shows of the pipeline.
-- Always aggregate again when reading.
CREATE TABLE IF NOT EXISTS counterflow.arrival {on_cluster}
(
  hour DateTime('UTC') COMMENT 'End of the hour that the intervals end in, UTC.' CODEC(Delta, ZSTD(1)),
  dataset LowCardinality(String) COMMENT 'Dataset that arrived.' CODEC(ZSTD(1)),
  system LowCardinality(String) COMMENT 'Name of the system.' CODEC(ZSTD(1)),
  intervals SimpleAggregateFunction(sum, UInt64) COMMENT 'Intervals that arrived; one that came again counts again.' CODEC(T64, ZSTD(1)),
  row_count SimpleAggregateFunction(sum, UInt64) COMMENT 'Their rows.' CODEC(T64, ZSTD(1)),
  delay_s SimpleAggregateFunction(sum, Float64) COMMENT 'Seconds from reading to landing, all intervals together.' CODEC(ZSTD(1)),
  longest_s SimpleAggregateFunction(max, Float64) COMMENT 'Seconds of the interval that took longest.' CODEC(ZSTD(1)),
  newest_ts SimpleAggregateFunction(max, DateTime64(3, 'UTC')) COMMENT 'End of the newest interval, UTC.' CODEC(Delta, ZSTD(1)),
  collected_at SimpleAggregateFunction(max, DateTime64(3, 'UTC')) COMMENT 'When an agent last read one of them, UTC.' CODEC(Delta, ZSTD(1)),
  landed_at SimpleAggregateFunction(max, DateTime('UTC')) COMMENT 'When one of them last landed, UTC.' CODEC(Delta, ZSTD(1))
)
ENGINE = {engine_prefix}AggregatingMergeTree
PARTITION BY toYYYYMM(hour)
ORDER BY (hour, dataset, system)
TTL landed_at + INTERVAL 430 DAY
SETTINGS non_replicated_deduplication_window = 100000, replicated_deduplication_window = 100000, replicated_deduplication_window_seconds = 604800, ttl_only_drop_parts = 1
COMMENT 'Landing of manifests by hour, dataset and system.';

CREATE MATERIALIZED VIEW IF NOT EXISTS counterflow.manifest_to_arrival {on_cluster} TO counterflow.arrival AS
SELECT
  toDateTime(toStartOfHour(ts + toIntervalMillisecond(3599999)), 'UTC') AS hour,
  counted AS dataset, system, count() AS intervals, sum(m.row_count) AS row_count,
  sum(greatest(0, toFloat64(now64(3, 'UTC') - m.collected_at))) AS delay_s,
  max(greatest(0, toFloat64(now64(3, 'UTC') - m.collected_at))) AS longest_s,
  max(ts) AS newest_ts, max(m.collected_at) AS collected_at, now() AS landed_at
FROM counterflow.manifest AS m
GROUP BY hour, dataset, system;
