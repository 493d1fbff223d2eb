-- Views with parameters: what is wanted of them is known before a row is read, so that no more is read than that.

-- Spells as in verdict_spell, of the verdicts of a range alone: where a spell begins is known only from all verdicts
-- there ever were.
CREATE OR REPLACE VIEW counterflow.verdict_spell_within {on_cluster} AS
SELECT
  rule, system, entity_type, entity, state,
  since - toIntervalMillisecond(toUInt64(1000 * coalesce(argMin(interval_s, ts), 0))) AS begin_ts,
  min(ts) - toIntervalMillisecond(toUInt64(1000 * coalesce(argMin(interval_s, ts), 0))) AS start_ts,
  max(ts) AS end_ts,
  count() AS intervals,
  countIf(stale) AS stale_intervals,
  max(interval_s) AS longest_s,
  argMin(v.reason, v.ts) AS reason,
  argMin(v.evidence, v.ts) AS evidence
FROM counterflow.verdict AS v FINAL
WHERE v.ts > {since:DateTime64(3)} AND v.ts <= {until:DateTime64(3)}
GROUP BY rule, system, entity_type, entity, state, since
COMMENT 'Spells of a state within a range, verdict_spell_within(since = ..., until = ...): from start_ts, the beginning of its first interval there, to end_ts, the end of its last; begin_ts is when it began, before the range too, longest_s its longest interval; reason and evidence are of the first.';

-- A counter from the rollup that suits the points shown: by minute, or by hour where a point is an hour and more.
CREATE OR REPLACE VIEW counterflow.metric_rollup {on_cluster} AS
SELECT ts, system, instance, n, total, toFloat64(lo) AS lo, toFloat64(hi) AS hi FROM counterflow.metric_1m
WHERE {bucket_s:UInt32} < 3600 AND metric = {metric:String}
UNION ALL
SELECT ts, system, instance, n, total, toFloat64(lo) AS lo, toFloat64(hi) AS hi FROM counterflow.metric_1h
WHERE {bucket_s:UInt32} >= 3600 AND metric = {metric:String}
COMMENT 'A metric by minute, or by hour for points of bucket_s of an hour and more, metric_rollup(metric = ..., bucket_s = ...). Always aggregate again when reading: sum(total) / sum(n) is the mean, min(lo) and max(hi) the extremes.';

-- Jobs and threads of IBM i, each with the name of its group by one grouping.
CREATE OR REPLACE VIEW counterflow.job_by {on_cluster} AS
SELECT
  ts, interval_s, system, assumeNotNull(group_name) AS name, job, cpu_ms, sql_cpu_ms,
  logical_reads + logical_writes + logical_other AS logical_io,
  if(logical_io IS NULL, NULL, logical_reads) AS reads,
  if(logical_io IS NULL, NULL, logical_reads - logical_reads_for_update) AS read_only,
  if(logical_io IS NULL, NULL, logical_reads_for_update) AS read_for_update,
  if(logical_io IS NULL OR logical_reads_for_update IS NOT NULL, NULL, logical_reads) AS reads_not_parted,
  if(logical_io IS NULL, NULL, logical_writes) AS inserts,
  if(logical_io IS NULL, NULL, logical_other) AS other,
  sync_db_reads + sync_nondb_reads AS sync_reads,
  sync_db_writes + sync_nondb_writes AS sync_writes,
  async_db_reads + async_nondb_reads AS async_reads,
  async_db_writes + async_nondb_writes AS async_writes,
  page_faults, transactions, response_s
FROM
(
  SELECT
    *,
    multiIf(
      {grouping:String} = 'thread', toNullable(job),
      {grouping:String} = 'job', job_name,
      {grouping:String} = 'generic_job', left(job_name, 6),
      {grouping:String} = 'user', job_user,
      {grouping:String} = 'subsystem', subsystem,
      {grouping:String} = 'pool', job_pool,
      {grouping:String} = 'job_type', job_type,
      NULL
    ) AS group_name
  FROM counterflow.job FINAL
  WHERE source = 'ibmi_tables'
)
WHERE group_name IS NOT NULL
COMMENT 'Jobs and threads of IBM i, rows of job, each with its group, job_by(grouping = ...): thread, job, generic_job (first six characters of its name), user, subsystem, pool or job_type. Logical I/O is null where a part of it is not counted; reads_not_parted are reads of which it is not known which were for update.';

-- What groups of jobs use: of job_cpu where it has the grouping, else of the rows of jobs.
CREATE OR REPLACE VIEW counterflow.cpu_by {on_cluster} AS
SELECT ts, interval_s, system, toString(name) AS name, cpu_ms, sql_cpu_ms
FROM counterflow.job_cpu FINAL
WHERE grouping = {grouping:String}
UNION ALL
SELECT ts, interval_s, system, toString(name) AS name, cpu_ms, sql_cpu_ms
FROM counterflow.job_by(grouping = {grouping:String})
WHERE {grouping:String} IN ('thread', 'pool')
COMMENT 'Processor time of groups of jobs of IBM i by interval, cpu_by(grouping = ...); groupings as in job_by, and partition.';

-- What groups of jobs do in the database: of io_mix where it has the grouping, else of the rows of jobs.
CREATE OR REPLACE VIEW counterflow.io_by {on_cluster} AS
SELECT
  ts, interval_s, system, toString(name) AS name, logical_io, reads, read_only, read_for_update,
  if(split = 'three-way', reads, NULL) AS reads_not_parted, inserts, other, exposure_pct * logical_io / 100 AS exposed
FROM counterflow.io_mix FINAL
WHERE grouping = {grouping:String}
UNION ALL
SELECT
  ts, interval_s, system, toString(name) AS name, logical_io, reads, read_only, read_for_update, reads_not_parted,
  inserts, other, inserts + other + coalesce(read_for_update, 0) AS exposed
FROM counterflow.job_by(grouping = {grouping:String})
WHERE {grouping:String} IN ('thread', 'pool', 'job_type')
COMMENT 'Logical database I/O of groups of jobs of IBM i by interval, io_by(grouping = ...); groupings as in job_by, and partition. exposed is what mirroring would touch: inserts, other, and reads for update where they are known.';

-- What the tasks of groups of jobs run and wait for.
CREATE OR REPLACE VIEW counterflow.wait_by {on_cluster} AS
SELECT
  ts, interval_s, system, assumeNotNull(group_name) AS name, task, dispatched_cpu_s, cpu_queueing_s, disk_s,
  journaling_s, operating_system_contention_s, lock_contention_s, ineligible_s, other_s,
  cpu_queueing_s + disk_s + journaling_s + operating_system_contention_s + lock_contention_s + ineligible_s AS held_up_s
FROM
(
  SELECT
    *,
    multiIf(
      {grouping:String} = 'thread', coalesce(job, task),
      {grouping:String} = 'job', job_name,
      {grouping:String} = 'generic_job', left(job_name, 6),
      {grouping:String} = 'user', job_user,
      {grouping:String} = 'subsystem', subsystem,
      NULL
    ) AS group_name
  FROM counterflow.wait_signature FINAL
  WHERE task != '*' AND {grouping:String} NOT IN ('pool', 'job_type')
  UNION ALL
  -- what only the row of the job tells
  SELECT w.*, j.name AS group_name
  FROM (SELECT * FROM counterflow.wait_signature FINAL WHERE task != '*') AS w
  INNER JOIN counterflow.job_by(grouping = {grouping:String}) AS j
    ON w.ts = j.ts AND w.system = j.system AND w.job = j.job
  WHERE {grouping:String} IN ('pool', 'job_type')
)
WHERE group_name IS NOT NULL
COMMENT 'Seconds that single tasks of IBM i ran and waited, rows of wait_signature, each with its group, wait_by(grouping = ...): as in job_by. held_up_s are those in all groups that hold work up.';

DROP VIEW IF EXISTS counterflow.wait_group {on_cluster};
