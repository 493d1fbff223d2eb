-- Tables beside the datasets: the ledger of sequence numbers, sums by hour, lists by day; and the views that fill some.

-- Arrived records by sequence number: a set, so that a record which is inserted again counts once; `rows` counts each
-- arrival. One row per agent, dataset and day of reading; a view on every table that agents fill enters them.
CREATE TABLE IF NOT EXISTS counterflow.ledger {on_cluster}
(
  agent_id LowCardinality(String) COMMENT 'Agent that published the rows.' CODEC(ZSTD(1)),
  dataset LowCardinality(String) COMMENT 'Dataset of the rows; deadletter where a record was refused on the way.' CODEC(ZSTD(1)),
  day Date COMMENT 'Day on which the agent read the rows, UTC.',
  rows SimpleAggregateFunction(sum, UInt64) COMMENT 'Rows inserted; one that arrives again counts again.' CODEC(T64, ZSTD(1)),
  seqs AggregateFunction(groupBitmap, UInt64) COMMENT 'Their sequence numbers, as a set.' CODEC(ZSTD(1)),
  landed_at SimpleAggregateFunction(max, DateTime('UTC')) DEFAULT now() COMMENT 'When the last of the rows was inserted, UTC.' CODEC(Delta, ZSTD(1))
)
ENGINE = {engine_prefix}AggregatingMergeTree
PARTITION BY toYYYYMM(day)
ORDER BY (agent_id, dataset, day)
TTL landed_at + INTERVAL 430 DAY
SETTINGS ttl_only_drop_parts = 1, min_bytes_for_wide_part = 134217728
COMMENT 'Rows and sequence numbers that arrived, by agent, dataset and day.';

-- Which systems there are, and from when to when each has data: one row per system and day, so that a year of a thousand
-- systems is listed at once. Always aggregate again when reading.
CREATE TABLE IF NOT EXISTS counterflow.system_day {on_cluster}
(
  system LowCardinality(String) COMMENT 'Name of the system.' CODEC(ZSTD(1)),
  day Date COMMENT 'Day of the intervals, UTC.',
  first_ts SimpleAggregateFunction(min, DateTime64(3, 'UTC')) COMMENT 'Beginning of the first interval of the day, UTC.',
  last_ts SimpleAggregateFunction(max, DateTime64(3, 'UTC')) COMMENT 'End of the last interval of the day, UTC.',
  landed_at SimpleAggregateFunction(max, DateTime('UTC')) DEFAULT now() COMMENT 'When the last of the rows was inserted, UTC.' CODEC(Delta, ZSTD(1))
)
ENGINE = {engine_prefix}AggregatingMergeTree
PARTITION BY toYYYYMM(day)
ORDER BY (day, system)
TTL landed_at + INTERVAL 430 DAY
SETTINGS ttl_only_drop_parts = 1
COMMENT 'Systems by day, from system_dataset.';

-- What sums over rows is computed from the tables by hour, since a row may be inserted more than once. A view on each
-- table notes which hours were touched; `counterflow.pipelines.landing.rollups` computes these again, and notes how far
-- it is. Nothing is touched while no lander runs, so a week is longer than any note is needed.
CREATE TABLE IF NOT EXISTS counterflow.hour_touched {on_cluster}
(
  dataset LowCardinality(String) COMMENT 'Dataset of the inserted rows.' CODEC(ZSTD(1)),
  system LowCardinality(String) COMMENT 'Name of the system.' CODEC(ZSTD(1)),
  hour DateTime('UTC') COMMENT 'End of the hour that their intervals end in, UTC.' CODEC(Delta, ZSTD(1)),
  touched_at DateTime64(3, 'UTC') COMMENT 'When the last of them was inserted, UTC.' CODEC(Delta, ZSTD(1))
)
ENGINE = {engine_prefix}ReplacingMergeTree(touched_at)
PARTITION BY toYYYYMMDD(touched_at)
ORDER BY (dataset, system, hour)
TTL toDateTime(touched_at) + INTERVAL 7 DAY
SETTINGS ttl_only_drop_parts = 1
COMMENT 'Hours of which rows were inserted, by dataset and system, for a week.';

CREATE TABLE IF NOT EXISTS counterflow.rollup_progress {on_cluster}
(
  dataset LowCardinality(String) COMMENT 'Dataset of the rows.',
  system LowCardinality(String) COMMENT 'Name of the system.',
  touched_to DateTime64(3, 'UTC') COMMENT 'Its hours that were touched up to this time are computed, UTC.'
)
ENGINE = {engine_prefix}ReplacingMergeTree(touched_to)
ORDER BY (dataset, system)
COMMENT 'How far the tables by hour are computed.';

-- Every number of every dataset that has an instance, by hour, for ranges of months and many systems. Read it through
-- the view metric_hour. A row counts in the hour its interval ends in; of a value that became null, n is 0. metric_day
-- lists which metrics there are; metric_value has every value.
CREATE TABLE IF NOT EXISTS counterflow.metric_1h {on_cluster}
(
  metric LowCardinality(String) COMMENT 'dataset.column, or counter.section.counter.' CODEC(ZSTD(1)),
  system LowCardinality(String) COMMENT 'Name of the system.' CODEC(ZSTD(1)),
  instance LowCardinality(String) COMMENT 'Measured object; several key columns are joined by a slash.' CODEC(ZSTD(1)),
  ts DateTime('UTC') COMMENT 'End of the hour, UTC.' CODEC(Delta, ZSTD(1)),
  n UInt64 COMMENT 'Values in the hour.' CODEC(T64, ZSTD(1)),
  total Float64 COMMENT 'Their sum.' CODEC(ZSTD(1)),
  lo Float64 COMMENT 'The smallest.' CODEC(ZSTD(1)),
  hi Float64 COMMENT 'The largest.' CODEC(ZSTD(1)),
  computed_at DateTime64(3, 'UTC') DEFAULT now64(3, 'UTC') COMMENT 'When the hour was computed, UTC; the newest computation stays.' CODEC(Delta, ZSTD(1))
)
ENGINE = {engine_prefix}ReplacingMergeTree(computed_at)
PARTITION BY toYYYYMM(ts)
ORDER BY (metric, system, instance, ts)
TTL toDateTime(computed_at) + INTERVAL 430 DAY
SETTINGS ttl_only_drop_parts = 1, min_bytes_for_wide_part = 134217728, min_age_to_force_merge_seconds = 21600, min_age_to_force_merge_on_partition_only = 1
COMMENT 'One-hour rollup of every metric; of one computed again, until merged, both.';

CREATE TABLE IF NOT EXISTS counterflow.metric_day {on_cluster}
(
  day Date COMMENT 'Day of the intervals, UTC.',
  metric LowCardinality(String) COMMENT 'dataset.column, or counter.section.counter.' CODEC(ZSTD(1)),
  landed_at DateTime('UTC') DEFAULT now() COMMENT 'When the last of its values was inserted, UTC.' CODEC(Delta, ZSTD(1))
)
ENGINE = {engine_prefix}ReplacingMergeTree(landed_at)
PARTITION BY toYYYYMM(day)
ORDER BY (day, metric)
TTL landed_at + INTERVAL 430 DAY
SETTINGS ttl_only_drop_parts = 1
COMMENT 'Metrics by day, to choose from.';

CREATE MATERIALIZED VIEW IF NOT EXISTS counterflow.metric_1h_to_day {on_cluster} TO counterflow.metric_day AS
SELECT DISTINCT toDate(ts - toIntervalSecond(1), 'UTC') AS day, metric
FROM counterflow.metric_1h
WHERE n > 0;

-- How long intervals took from the agent to the tables, by hour, to show the pipeline over long ranges. Read it with
-- FINAL.
CREATE TABLE IF NOT EXISTS counterflow.arrival {on_cluster}
(
  hour DateTime('UTC') COMMENT 'End of the hour that the intervals end in, UTC.' CODEC(Delta, ZSTD(1)),
  dataset LowCardinality(String) COMMENT 'Dataset that arrived.' CODEC(ZSTD(1)),
  system LowCardinality(String) COMMENT 'Name of the system.' CODEC(ZSTD(1)),
  intervals UInt64 COMMENT 'Intervals that arrived, each once.' CODEC(T64, ZSTD(1)),
  row_count UInt64 COMMENT 'Their rows.' CODEC(T64, ZSTD(1)),
  delay_s Float64 COMMENT 'Seconds from reading to landing, where an interval landed again to the last time, all intervals together.' CODEC(ZSTD(1)),
  longest_s Float64 COMMENT 'Seconds of the interval that took longest.' CODEC(ZSTD(1)),
  newest_ts DateTime64(3, 'UTC') COMMENT 'End of the newest interval, UTC.' CODEC(Delta, ZSTD(1)),
  collected_at DateTime64(3, 'UTC') COMMENT 'When an agent last read one of them, UTC.' CODEC(Delta, ZSTD(1)),
  landed_at DateTime('UTC') COMMENT 'When one of them last landed, UTC.' CODEC(Delta, ZSTD(1)),
  computed_at DateTime64(3, 'UTC') DEFAULT now64(3, 'UTC') COMMENT 'When the hour was computed, UTC; the newest computation stays.' CODEC(Delta, ZSTD(1))
)
ENGINE = {engine_prefix}ReplacingMergeTree(computed_at)
PARTITION BY toYYYYMM(hour)
ORDER BY (hour, dataset, system)
TTL toDateTime(computed_at) + INTERVAL 430 DAY
SETTINGS ttl_only_drop_parts = 1, min_bytes_for_wide_part = 134217728, min_age_to_force_merge_seconds = 21600, min_age_to_force_merge_on_partition_only = 1
COMMENT 'Landing of manifests by hour, dataset and system.';

-- How busy processors are by hour, for ranges of months and many systems, from the view processor_load. Read it with
-- FINAL; sum(busy_pct_s) / sum(seconds) is the mean, and unknown where seconds is 0.
CREATE TABLE IF NOT EXISTS counterflow.processor_load_1h {on_cluster}
(
  system LowCardinality(String) COMMENT 'Name of the system.' CODEC(ZSTD(1)),
  engine_type LowCardinality(String) COMMENT 'Type of its processors, as in system_cpu.' CODEC(ZSTD(1)),
  ts DateTime('UTC') COMMENT 'End of the hour, UTC; an interval counts in the hour it ends in.' CODEC(Delta, ZSTD(1)),
  seconds Float64 COMMENT 'Length of its intervals that have a figure, summed.' CODEC(ZSTD(1)),
  busy_pct_s Float64 COMMENT 'busy_pct of processor_load times the seconds of its interval.' CODEC(ZSTD(1)),
  busy_pct_max Float64 COMMENT 'busy_pct of the busiest interval.' CODEC(ZSTD(1)),
  computed_at DateTime64(3, 'UTC') DEFAULT now64(3, 'UTC') COMMENT 'When the hour was computed, UTC; the newest computation stays.' CODEC(Delta, ZSTD(1))
)
ENGINE = {engine_prefix}ReplacingMergeTree(computed_at)
PARTITION BY toYYYYMM(ts)
ORDER BY (system, engine_type, ts)
TTL toDateTime(computed_at) + INTERVAL 430 DAY
SETTINGS ttl_only_drop_parts = 1, min_bytes_for_wide_part = 134217728, min_age_to_force_merge_seconds = 21600, min_age_to_force_merge_on_partition_only = 1
COMMENT 'Processors of a system by hour: processor_load over long ranges.';

-- What jobs ran and waited by hour, from the view wait_signature, for ranges of days and weeks. Read it through the view
-- wait_within. A job has a row for each subsystem, pool and type that it had, empty where that is not known; of one
-- that the hour no longer has, intervals is 0.
CREATE TABLE IF NOT EXISTS counterflow.wait_1h {on_cluster}
(
  system LowCardinality(String) COMMENT 'Name of the system.' CODEC(ZSTD(1)),
  job LowCardinality(String) COMMENT 'Job as in the dataset job.' CODEC(ZSTD(1)),
  job_name LowCardinality(String) COMMENT 'Name of the job.' CODEC(ZSTD(1)),
  job_user LowCardinality(String) COMMENT 'User of the identity of the job.' CODEC(ZSTD(1)),
  subsystem LowCardinality(String) COMMENT 'Subsystem of the job.' CODEC(ZSTD(1)),
  job_pool LowCardinality(String) COMMENT 'Memory pool the job ran in.' CODEC(ZSTD(1)),
  job_type LowCardinality(String) COMMENT 'Letter of the job type.' CODEC(ZSTD(1)),
  ts DateTime('UTC') COMMENT 'End of the hour, UTC; an interval counts in the hour it ends in.' CODEC(Delta, ZSTD(1)),
  intervals UInt64 COMMENT 'Intervals of its tasks.' CODEC(T64, ZSTD(1)),
  dispatched_cpu_s Float64 COMMENT 'Seconds running on processors.' CODEC(ZSTD(1)),
  cpu_queueing_s Float64 COMMENT 'Seconds waiting for a processor.' CODEC(ZSTD(1)),
  disk_s Float64 COMMENT 'Seconds waiting for disks.' CODEC(ZSTD(1)),
  journaling_s Float64 COMMENT 'Seconds waiting for journals.' CODEC(ZSTD(1)),
  operating_system_contention_s Float64 COMMENT 'Seconds waiting for locks inside the operating system.' CODEC(ZSTD(1)),
  lock_contention_s Float64 COMMENT 'Seconds waiting for record and object locks.' CODEC(ZSTD(1)),
  ineligible_s Float64 COMMENT 'Seconds waiting for an activity level of the pool.' CODEC(ZSTD(1)),
  other_s Float64 COMMENT 'Seconds waiting in every other bucket.' CODEC(ZSTD(1)),
  held_up_s Float64 COMMENT 'Seconds in the groups that hold work up.' CODEC(ZSTD(1)),
  computed_at DateTime64(3, 'UTC') DEFAULT now64(3, 'UTC') COMMENT 'When the hour was computed, UTC; the newest computation stays.' CODEC(Delta, ZSTD(1))
)
ENGINE = {engine_prefix}ReplacingMergeTree(computed_at)
PARTITION BY toYYYYMM(ts)
ORDER BY (system, ts, job, subsystem, job_pool, job_type)
TTL toDateTime(computed_at) + INTERVAL 430 DAY
SETTINGS ttl_only_drop_parts = 1, min_bytes_for_wide_part = 134217728, min_age_to_force_merge_seconds = 21600, min_age_to_force_merge_on_partition_only = 1
COMMENT 'Run and wait signature of jobs by hour: wait_signature over long ranges.';

-- Which systems have which counters, by day and label: a board lists those of which it can show something, and runs are
-- found without reading all rows for the few that have a label. Always aggregate again when reading. Filled by a view
-- on every table of counters, since not every format yields manifests.
CREATE TABLE IF NOT EXISTS counterflow.system_dataset {on_cluster}
(
  day Date COMMENT 'Day of the intervals, UTC.',
  dataset LowCardinality(String) COMMENT 'Dataset of the counters.' CODEC(ZSTD(1)),
  source LowCardinality(String) COMMENT 'Format they were read from.' CODEC(ZSTD(1)),
  system LowCardinality(String) COMMENT 'Name of the system.' CODEC(ZSTD(1)),
  run LowCardinality(String) COMMENT 'Label of the run; empty without one.' CODEC(ZSTD(1)),
  first_ts SimpleAggregateFunction(min, DateTime64(3, 'UTC')) COMMENT 'Beginning of the first interval of the day, UTC.',
  last_ts SimpleAggregateFunction(max, DateTime64(3, 'UTC')) COMMENT 'End of the last interval of the day, UTC.',
  by_manifest SimpleAggregateFunction(max, UInt8) COMMENT '1 where manifests count the rows.',
  landed_at SimpleAggregateFunction(max, DateTime('UTC')) DEFAULT now() COMMENT 'When the last of the rows was inserted, UTC.' CODEC(Delta, ZSTD(1))
)
ENGINE = {engine_prefix}AggregatingMergeTree
PARTITION BY toYYYYMM(day)
ORDER BY (dataset, source, system, day, run)
TTL landed_at + INTERVAL 430 DAY
SETTINGS ttl_only_drop_parts = 1
COMMENT 'Systems by day, with the counters and the label that they have.';

CREATE MATERIALIZED VIEW IF NOT EXISTS counterflow.system_dataset_to_day {on_cluster} TO counterflow.system_day AS
SELECT system, day, min(first_ts) AS first_ts, max(last_ts) AS last_ts
FROM counterflow.system_dataset
GROUP BY system, day;

-- What became of dead letters. They are never changed or deleted before their time: each that was published again, or
-- dropped for a reason, has a row here.
CREATE TABLE IF NOT EXISTS counterflow.deadletter_handled {on_cluster}
(
  id String COMMENT 'Dead letter: a digest of its system, origin, stage and ts.' CODEC(ZSTD(1)),
  action LowCardinality(String) COMMENT '`replayed` or `dropped`.' CODEC(ZSTD(1)),
  reason String COMMENT 'Why it was dropped, or where it was published: topic.' CODEC(ZSTD(1)),
  handled_at DateTime64(3, 'UTC') DEFAULT now64(3, 'UTC') COMMENT 'When, UTC.' CODEC(Delta, ZSTD(1))
)
ENGINE = {engine_prefix}ReplacingMergeTree(handled_at)
ORDER BY id
TTL toDateTime(handled_at) + INTERVAL 430 DAY
COMMENT 'Dead letters that were published again or dropped.';
