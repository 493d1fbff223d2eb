-- Every number of every dataset that has an instance, by minute. Always aggregate again when reading:
-- sum(total) / sum(n) is the mean, min(lo) and max(hi) the extremes. A row counts in the minute its interval ends in.
CREATE TABLE IF NOT EXISTS counterflow.metric_1m {on_cluster}
(
  metric LowCardinality(String) COMMENT 'dataset.column, or counter.section.counter.' CODEC(ZSTD(1)),
  system LowCardinality(String) COMMENT 'Name of the system.' CODEC(ZSTD(1)),
  instance LowCardinality(String) COMMENT 'The thing measured; several key columns are joined by a slash.' CODEC(ZSTD(1)),
  ts DateTime('UTC') COMMENT 'End of the minute, UTC.' CODEC(Delta, ZSTD(1)),
  n SimpleAggregateFunction(sum, UInt64) COMMENT 'Values in the minute.' CODEC(T64, ZSTD(1)),
  total SimpleAggregateFunction(sum, Float64) COMMENT 'Their sum.' CODEC(ZSTD(1)),
  lo SimpleAggregateFunction(min, Float64) COMMENT 'The smallest.' CODEC(ZSTD(1)),
  hi SimpleAggregateFunction(max, Float64) COMMENT 'The largest.' CODEC(ZSTD(1)),
  landed_at SimpleAggregateFunction(max, DateTime('UTC')) DEFAULT now() COMMENT 'When the last of them was inserted, UTC.' CODEC(Delta, ZSTD(1))
)
ENGINE = {engine_prefix}AggregatingMergeTree
PARTITION BY toYYYYMMDD(ts)
ORDER BY (metric, system, instance, ts)
TTL landed_at + INTERVAL 400 DAY
SETTINGS non_replicated_deduplication_window = 100000, replicated_deduplication_window = 100000, replicated_deduplication_window_seconds = 604800, ttl_only_drop_parts = 1, min_bytes_for_wide_part = 134217728
COMMENT 'One-minute rollup of every metric.';
