-- How busy processors are by hour, for ranges of months and many systems: processor_load works it out of each row.
-- Always aggregate again when reading: sum(busy_pct_s) / sum(seconds) is the mean.
CREATE TABLE IF NOT EXISTS counterflow.processor_load_1h {on_cluster}
(
  system LowCardinality(String) COMMENT 'Name of the system.' CODEC(ZSTD(1)),
  engine_type LowCardinality(String) COMMENT 'Type of its processors, as in system_cpu.' CODEC(ZSTD(1)),
  ts DateTime('UTC') COMMENT 'End of the hour, UTC; an interval counts in the hour it ends in.' CODEC(Delta, ZSTD(1)),
  seconds SimpleAggregateFunction(sum, Float64) COMMENT 'Length of its intervals together.' CODEC(ZSTD(1)),
  busy_pct_s SimpleAggregateFunction(sum, Float64) COMMENT 'busy_pct of processor_load times the seconds of its interval.' CODEC(ZSTD(1)),
  busy_pct_max SimpleAggregateFunction(max, Float64) COMMENT 'busy_pct of the busiest interval.' CODEC(ZSTD(1))
)
ENGINE = {engine_prefix}AggregatingMergeTree
PARTITION BY toYYYYMM(ts)
ORDER BY (system, engine_type, ts)
TTL ts + INTERVAL 430 DAY
SETTINGS non_replicated_deduplication_window = 100000, replicated_deduplication_window = 100000, replicated_deduplication_window_seconds = 604800, ttl_only_drop_parts = 1
COMMENT 'Processors of a system by hour: processor_load over long ranges.';

INSERT INTO counterflow.processor_load_1h (system, engine_type, ts, seconds, busy_pct_s, busy_pct_max)
SELECT
  system, engine_type, toStartOfHour(toDateTime(p.ts + toIntervalMillisecond(3599999))) AS hour,
  sum(interval_s), sum(busy_pct * interval_s), max(busy_pct)
FROM counterflow.processor_load AS p
WHERE busy_pct IS NOT NULL AND interval_s > 0
GROUP BY system, engine_type, hour
SETTINGS insert_deduplication_token = 'processor_load_1h', max_partitions_per_insert_block = 0;

CREATE MATERIALIZED VIEW IF NOT EXISTS counterflow.system_cpu_to_processor_load_1h {on_cluster} TO counterflow.processor_load_1h AS
SELECT
  system, engine_type, hour AS ts, sum(took_s) AS seconds, sum(busy * took_s) AS busy_pct_s, max(busy) AS busy_pct_max
FROM
(
  SELECT
    system, engine_type, toStartOfHour(toDateTime(c.ts + toIntervalMillisecond(3599999))) AS hour,
    assumeNotNull(interval_s) AS took_s,
    multiIf(
      busy_pct IS NOT NULL, busy_pct,
      cpu_base = 'logical', user_pct + sys_pct,
      100 * physical_consumed_cores / nullIf(entitled_cores, 0)
    ) AS busy_or_null,
    assumeNotNull(busy_or_null) AS busy
  FROM counterflow.system_cpu AS c
  WHERE engine = 'all' AND interval_s > 0 AND busy_or_null IS NOT NULL
)
GROUP BY system, engine_type, hour;
