-- A group without time in the interval is 0: the counters cover every bucket, and one without time has no row. A task
-- whose job is not known, or of which no time is counted, has no row. Of the two rows of a job that changed its
-- subsystem, pool or type, the greatest value stays.
SELECT
  ts, max(w.interval_s) AS interval_s, system, task,
  max(w.job) AS job, max(w.job_name) AS job_name, max(w.job_user) AS job_user, max(w.subsystem) AS subsystem,
  max(w.job_pool) AS job_pool, max(w.job_type) AS job_type,
  ifNull(sumIf(w.wait_ms, wait_group = 'dispatched_cpu'), 0) / 1000 AS dispatched_cpu_s,
  ifNull(sumIf(w.wait_ms, wait_group = 'cpu_queueing'), 0) / 1000 AS cpu_queueing_s,
  ifNull(sumIf(w.wait_ms, wait_group = 'disk'), 0) / 1000 AS disk_s,
  ifNull(sumIf(w.wait_ms, wait_group = 'journaling'), 0) / 1000 AS journaling_s,
  ifNull(sumIf(w.wait_ms, wait_group = 'operating_system_contention'), 0) / 1000 AS operating_system_contention_s,
  ifNull(sumIf(w.wait_ms, wait_group = 'lock_contention'), 0) / 1000 AS lock_contention_s,
  ifNull(sumIf(w.wait_ms, wait_group = 'ineligible'), 0) / 1000 AS ineligible_s,
  ifNull(sumIf(w.wait_ms, wait_group = 'other'), 0) / 1000 AS other_s,
  cpu_queueing_s + disk_s + journaling_s + operating_system_contention_s + lock_contention_s + ineligible_s AS held_up_s,
  ifNull(sum(w.wait_ms), 0) / 1000 AS total_s,
  sumIf(w.waits, wait_group = 'dispatched_cpu') AS dispatched_cpu_waits,
  sumIf(w.waits, wait_group = 'cpu_queueing') AS cpu_queueing_waits,
  sumIf(w.waits, wait_group = 'disk') AS disk_waits,
  sumIf(w.waits, wait_group = 'journaling') AS journaling_waits,
  sumIf(w.waits, wait_group = 'operating_system_contention') AS operating_system_contention_waits,
  sumIf(w.waits, wait_group = 'lock_contention') AS lock_contention_waits,
  sumIf(w.waits, wait_group = 'ineligible') AS ineligible_waits,
  sumIf(w.waits, wait_group = 'other') AS other_waits
FROM
(
  SELECT
    ts, system, task, interval_s, wait_group, wait_ms, waits,
    NULL AS job, NULL AS job_name, NULL AS job_user, NULL AS subsystem, NULL AS job_pool, NULL AS job_type
  FROM counterflow.wait FINAL
  UNION ALL
  SELECT
    ts, system, assumeNotNull(j.task), NULL, '', NULL, NULL,
    j.job, j.job_name, j.job_user, j.subsystem, j.job_pool, j.job_type
  FROM counterflow.job AS j FINAL
  WHERE isNotNull(j.task)
) AS w
GROUP BY system, task, ts
HAVING count(w.wait_ms) > 0 AND (task = '*' OR isNotNull(job))
