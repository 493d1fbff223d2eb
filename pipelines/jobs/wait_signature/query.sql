-- What do jobs wait for?
--
-- One row per task, with its job, user and subsystem from the dataset job, and a row `*` of the whole system:
-- seconds and waits in the groups by which Performance Data Investigator charts them. By subsystem, user, job and
-- generic job: view `wait_profile`. `n` counts the rows of wait, and 1 for the job. A task whose job is not known yet
-- has no row: the interval is provisional.
--
-- group      each bucket's own (schemas/datasets/wait.yaml). A group without time in the interval is 0: the counters
--            cover every bucket, and one without time has no row.
-- total      all groups together. A task is in one bucket at any moment: its total is the part of the interval that it
--            lived. Time in a bucket / length of the interval = the tasks that were in it on average.
--
-- Sources: QAPMJOBWT, QAPMISUM, QAPMJOBMI; grouping: Performance Data Investigator, CPU Utilization and Waits Overview.

CREATE TEMPORARY VIEW signatures AS
SELECT
  ts, MAX(interval_s) AS interval_s, `system`, task, COUNT(*) AS n, SUM(wait_ms) AS total_ms,
  SUM(wait_ms) FILTER (WHERE wait_group = 'dispatched_cpu') AS dispatched_cpu_ms,
  SUM(wait_ms) FILTER (WHERE wait_group = 'cpu_queueing') AS cpu_queueing_ms,
  SUM(wait_ms) FILTER (WHERE wait_group = 'disk') AS disk_ms,
  SUM(wait_ms) FILTER (WHERE wait_group = 'journaling') AS journaling_ms,
  SUM(wait_ms) FILTER (WHERE wait_group = 'operating_system_contention') AS operating_system_contention_ms,
  SUM(wait_ms) FILTER (WHERE wait_group = 'lock_contention') AS lock_contention_ms,
  SUM(wait_ms) FILTER (WHERE wait_group = 'ineligible') AS ineligible_ms,
  SUM(wait_ms) FILTER (WHERE wait_group = 'other') AS other_ms,
  SUM(waits) FILTER (WHERE wait_group = 'dispatched_cpu') AS dispatched_cpu_waits,
  SUM(waits) FILTER (WHERE wait_group = 'cpu_queueing') AS cpu_queueing_waits,
  SUM(waits) FILTER (WHERE wait_group = 'disk') AS disk_waits,
  SUM(waits) FILTER (WHERE wait_group = 'journaling') AS journaling_waits,
  SUM(waits) FILTER (WHERE wait_group = 'operating_system_contention') AS operating_system_contention_waits,
  SUM(waits) FILTER (WHERE wait_group = 'lock_contention') AS lock_contention_waits,
  SUM(waits) FILTER (WHERE wait_group = 'ineligible') AS ineligible_waits,
  SUM(waits) FILTER (WHERE wait_group = 'other') AS other_waits
FROM distinct_wait
GROUP BY `system`, task, ts;

-- With MAX a row that arrives twice counts once, and so do the two rows of a job that changed its subsystem. The system
-- is no job but has a row here, so that one inner join serves both. An outer join would delete what it completes.
CREATE TEMPORARY VIEW jobs AS
SELECT
  `system`, task, ts, MAX(job) AS job, MAX(job_name) AS job_name, MAX(job_user) AS job_user,
  MAX(subsystem) AS subsystem
FROM (
  SELECT `system`, task, ts, job, job_name, job_user, subsystem FROM distinct_job WHERE task IS NOT NULL
  UNION ALL
  SELECT
    `system`, task, ts,
    CAST(NULL AS STRING), CAST(NULL AS STRING), CAST(NULL AS STRING), CAST(NULL AS STRING)
  FROM distinct_wait
  WHERE task = '*'
)
GROUP BY `system`, task, ts;

INSERT INTO wait_signature (
  ts, interval_s, `system`, n, task, job, job_name, job_user, subsystem, total_s,
  dispatched_cpu_s,
  cpu_queueing_s,
  disk_s,
  journaling_s,
  operating_system_contention_s,
  lock_contention_s,
  ineligible_s,
  other_s,
  dispatched_cpu_waits,
  cpu_queueing_waits,
  disk_waits,
  journaling_waits,
  operating_system_contention_waits,
  lock_contention_waits,
  ineligible_waits,
  other_waits
)
SELECT
  w.ts, w.interval_s, w.`system`, w.n + CASE WHEN j.job IS NULL THEN 0 ELSE 1 END,
  w.task, j.job, j.job_name, j.job_user, j.subsystem, w.total_ms / 1000,
  COALESCE(w.dispatched_cpu_ms, 0) / 1000,
  COALESCE(w.cpu_queueing_ms, 0) / 1000,
  COALESCE(w.disk_ms, 0) / 1000,
  COALESCE(w.journaling_ms, 0) / 1000,
  COALESCE(w.operating_system_contention_ms, 0) / 1000,
  COALESCE(w.lock_contention_ms, 0) / 1000,
  COALESCE(w.ineligible_ms, 0) / 1000,
  COALESCE(w.other_ms, 0) / 1000,
  w.dispatched_cpu_waits,
  w.cpu_queueing_waits,
  w.disk_waits,
  w.journaling_waits,
  w.operating_system_contention_waits,
  w.lock_contention_waits,
  w.ineligible_waits,
  w.other_waits
FROM signatures AS w
JOIN jobs AS j ON w.`system` = j.`system` AND w.task = j.task AND w.ts = j.ts;
