-- Waits of the system and of groups of jobs: additive, so that a period is a sum over its rows.
CREATE VIEW IF NOT EXISTS counterflow.wait_profile {on_cluster} AS
SELECT
  ts, interval_s, system, grouping, name, wait_group, seconds, waits,
  seconds / nullIf(interval_s, 0) AS tasks_avg,
  100 * seconds / nullIf(arraySum(group_seconds), 0) AS share_pct
FROM
(
  SELECT
    w.ts AS ts, max(w.interval_s) AS interval_s, w.system AS system, grouping, assumeNotNull(group_name) AS name,
    sumForEach([
      dispatched_cpu_s, cpu_queueing_s, disk_s, journaling_s, operating_system_contention_s, lock_contention_s,
      ineligible_s, other_s
    ]) AS group_seconds,
    sumForEach([
      dispatched_cpu_waits, cpu_queueing_waits, disk_waits, journaling_waits, operating_system_contention_waits,
      lock_contention_waits, ineligible_waits, other_waits
    ]) AS group_waits
  FROM counterflow.wait_signature AS w FINAL
  ARRAY JOIN
    if(task = '*', ['system'], ['subsystem', 'user', 'job', 'generic_job']) AS grouping,
    if(task = '*', ['*'], [subsystem, job_user, job_name, left(job_name, 6)]) AS group_name
  WHERE group_name IS NOT NULL
  GROUP BY ts, system, grouping, name
)
ARRAY JOIN
  [
    'dispatched_cpu', 'cpu_queueing', 'disk', 'journaling', 'operating_system_contention', 'lock_contention',
    'ineligible', 'other'
  ] AS wait_group,
  group_seconds AS seconds,
  group_waits AS waits
COMMENT 'Seconds and waits of the system, and by subsystem, user, job name and generic job, in each wait group over one interval; tasks_avg is the tasks in it on average (normalised time), share_pct its share of the name''s time.';
