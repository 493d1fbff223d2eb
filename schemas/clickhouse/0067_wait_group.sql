-- Waits in the groupings that wait_profile has not: a thread alone, and what only the row of the job tells.
CREATE VIEW IF NOT EXISTS counterflow.wait_group {on_cluster} AS
SELECT
  ts, interval_s, system, grouping, assumeNotNull(group_name) AS name, wait_group, seconds
FROM
(
  SELECT
    ts, max(interval_s) AS interval_s, system, grouping, group_name,
    sumForEach([
      dispatched_cpu_s, cpu_queueing_s, disk_s, journaling_s, operating_system_contention_s, lock_contention_s,
      ineligible_s, other_s
    ]) AS group_seconds
  FROM
  (
    SELECT w.*, coalesce(w.job, w.task) AS thread, j.job_pool AS pool, j.job_type AS type
    FROM (SELECT * FROM counterflow.wait_signature FINAL WHERE task != '*') AS w
    LEFT JOIN
    (
      SELECT ts, system, job, any(job_pool) AS job_pool, any(job_type) AS job_type
      FROM counterflow.job FINAL
      WHERE source = 'ibmi_tables'
      GROUP BY ts, system, job
    ) AS j ON w.ts = j.ts AND w.system = j.system AND w.job = j.job
  )
  ARRAY JOIN
    ['thread', 'pool', 'job_type'] AS grouping,
    [toNullable(thread), pool, type] AS group_name
  WHERE group_name IS NOT NULL
  GROUP BY ts, system, grouping, group_name
)
ARRAY JOIN
  [
    'dispatched_cpu', 'cpu_queueing', 'disk', 'journaling', 'operating_system_contention', 'lock_contention',
    'ineligible', 'other'
  ] AS wait_group,
  group_seconds AS seconds
COMMENT 'Seconds in each wait group over one interval, by thread, memory pool and job type; the view wait_profile has the other groupings.';
