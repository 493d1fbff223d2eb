-- The rollup of minutes by hour, for ranges of months and many systems; read it as metric_1m. A row counts in the hour
-- its minute ends in. metric_day lists which metrics there are.
CREATE TABLE IF NOT EXISTS counterflow.metric_1h {on_cluster}
(
  metric LowCardinality(String) COMMENT 'dataset.column, or counter.section.counter.' CODEC(ZSTD(1)),
  system LowCardinality(String) COMMENT 'Name of the system.' CODEC(ZSTD(1)),
  instance LowCardinality(String) COMMENT 'The thing measured; several key columns are joined by a slash.' CODEC(ZSTD(1)),
  ts DateTime('UTC') COMMENT 'End of the hour, UTC.' CODEC(Delta, ZSTD(1)),
  n SimpleAggregateFunction(sum, UInt64) COMMENT 'Values in the hour.' CODEC(T64, ZSTD(1)),
  total SimpleAggregateFunction(sum, Float64) COMMENT 'Their sum.' CODEC(ZSTD(1)),
  lo SimpleAggregateFunction(min, Float64) COMMENT 'The smallest.' CODEC(ZSTD(1)),
  hi SimpleAggregateFunction(max, Float64) COMMENT 'The largest.' CODEC(ZSTD(1)),
  landed_at SimpleAggregateFunction(max, DateTime('UTC')) DEFAULT now() COMMENT 'When the last of them was inserted, UTC.' CODEC(Delta, ZSTD(1))
)
ENGINE = {engine_prefix}AggregatingMergeTree
PARTITION BY toYYYYMM(ts)
ORDER BY (metric, system, instance, ts)
TTL landed_at + INTERVAL 430 DAY
SETTINGS non_replicated_deduplication_window = 100000, replicated_deduplication_window = 100000, replicated_deduplication_window_seconds = 604800, ttl_only_drop_parts = 1, min_bytes_for_wide_part = 134217728
COMMENT 'One-hour rollup of every metric.';

CREATE MATERIALIZED VIEW IF NOT EXISTS counterflow.metric_1m_to_1h {on_cluster} TO counterflow.metric_1h AS
SELECT
  metric, system, instance, toDateTime(toStartOfHour(m.ts + toIntervalSecond(3599)), 'UTC') AS ts,
  sum(m.n) AS n, sum(m.total) AS total, min(m.lo) AS lo, max(m.hi) AS hi
FROM counterflow.metric_1m AS m
GROUP BY metric, system, instance, ts;

CREATE TABLE IF NOT EXISTS counterflow.metric_day {on_cluster}
(
  day Date COMMENT 'Day of the intervals, UTC.',
  metric LowCardinality(String) COMMENT 'dataset.column, or counter.section.counter.' CODEC(ZSTD(1))
)
ENGINE = {engine_prefix}ReplacingMergeTree
PARTITION BY toYYYYMM(day)
ORDER BY (day, metric)
TTL day + INTERVAL 430 DAY
SETTINGS non_replicated_deduplication_window = 100000, replicated_deduplication_window = 100000, replicated_deduplication_window_seconds = 604800, ttl_only_drop_parts = 1
COMMENT 'Metrics by day: what there is to choose from.';

CREATE MATERIALIZED VIEW IF NOT EXISTS counterflow.metric_1m_to_day {on_cluster} TO counterflow.metric_day AS
SELECT DISTINCT toDate(ts, 'UTC') AS day, metric
FROM counterflow.metric_1m;
