-- Measurement runs: those of the site file, and labels of recordings, which the manifests carry. Reading all manifests
-- for the few that have a label would take long: labels are kept by day.
CREATE TABLE IF NOT EXISTS counterflow.run_day {on_cluster}
(
  run LowCardinality(String) COMMENT 'Label of the run.' CODEC(ZSTD(1)),
  system LowCardinality(String) COMMENT 'Name of the system.' CODEC(ZSTD(1)),
  day Date COMMENT 'Day of the intervals, UTC.',
  first_ts SimpleAggregateFunction(min, DateTime64(3, 'UTC')) COMMENT 'Begin of the first interval of the day, UTC.',
  last_ts SimpleAggregateFunction(max, DateTime64(3, 'UTC')) COMMENT 'End of the last interval of the day, UTC.'
)
ENGINE = {engine_prefix}AggregatingMergeTree
PARTITION BY toYYYYMM(day)
ORDER BY (run, system, day)
TTL day + INTERVAL 430 DAY
SETTINGS non_replicated_deduplication_window = 100000, replicated_deduplication_window = 100000, replicated_deduplication_window_seconds = 604800, ttl_only_drop_parts = 1
COMMENT 'Labelled runs by system and day, from the manifests.';

CREATE MATERIALIZED VIEW IF NOT EXISTS counterflow.manifest_to_run_day {on_cluster} TO counterflow.run_day AS
SELECT
  assumeNotNull(m.run) AS run, system, toDate(ts, 'UTC') AS day,
  min(ts - toIntervalMillisecond(toUInt64(1000 * coalesce(interval_s, 0)))) AS first_ts, max(ts) AS last_ts
FROM counterflow.manifest AS m
WHERE m.run IS NOT NULL
GROUP BY run, system, day;

CREATE VIEW IF NOT EXISTS counterflow.run_span {on_cluster} AS
SELECT *, min(begin_ts) OVER (PARTITION BY run) AS run_begin_ts
FROM
(
  SELECT
    run, system, argMin(begins, place) AS begin_ts, argMin(tuple(ends), place).1 AS end_ts, argMin(by, place) AS told_by
  FROM
  (
    SELECT
      run, system, toDateTime64(min(first_ts), 3, 'UTC') AS begins,
      toNullable(toDateTime64(max(last_ts), 3, 'UTC')) AS ends, 'label' AS by, 2 AS place
    FROM counterflow.run_day
    GROUP BY run, system
    UNION ALL
    -- of two entries of one name the newest counts
    SELECT
      run, system,
      argMax(begun, ts) + toIntervalMillisecond(toUInt64(1000 * argMax(warm_up_s, ts))) AS begins,
      argMax(tuple(ended), ts).1 AS ends, 'site file' AS by, 1 AS place
    FROM
    (
      SELECT
        item AS run, system, ts,
        ts AS begun,
        max(if(name = 'end', parseDateTime64BestEffortOrNull(value, 3, 'UTC'), NULL)) AS ended,
        coalesce(max(if(name = 'warm_up_s', toFloat64OrNull(value), NULL)), 0) AS warm_up_s
      FROM counterflow.config FINAL
      WHERE section = 'run'
      GROUP BY run, system, ts
    )
    GROUP BY run, system
  )
  GROUP BY run, system
)
COMMENT 'When each measurement run began and ended on each system, without its warm-up; end_ts is null where it goes on, run_begin_ts is when it began on the first of them. What the site file says stands before a label of recordings.';
