-- Faults come from the pool, transactions and batch jobs from the jobs that name it, and the time of a fault from the
-- disks of the whole system.
--
-- interactive  disk response × faults/s / transactions/s = time in faults of a transaction; / its response.
-- batch        faults/s × disk response / batch jobs = share of the time that one job spends in faults. A job that waits
--              for a processor faults less, so it is also set against its time at the processor: faults / (faults + CPU).
--              Batch is every job that is not interactive; tasks of SLIC (V) are no jobs.
--              The jobs are those that used CPU: where they ran one after another, not at once, a figure for one job is
--              a lower bound; faults / (faults + CPU) does not depend on their number.
--
-- A pool that only jobs name has no row. Jobs that were collected at other intervals than the pool do not count.
--
-- Performance Capabilities Reference IBM i, 19.6 (19.1 for ineligible).
WITH faults * disk_response_ms / 1000 AS faulted_s
SELECT
  ts, interval_s, system, pool, pool_name, size_mb,
  100 * reserved_mb / nullIf(size_mb, 0) AS reserved_pct,
  faults / nullIf(interval_s, 0) AS faults_per_s,
  activity_level, active_to_ineligible,
  disk_response_ms,
  transactions / nullIf(interval_s, 0) AS transactions_per_s,
  responded_s / nullIf(timed, 0) AS response_s,
  faulted_s / nullIf(transactions, 0) AS fault_s,
  100 * fault_s / nullIf(response_s, 0) AS interactive_fault_pct,
  multiIf(
    isNull(faults), 'faults', isNull(disk_response_ms), 'disk response',
    isNull(interactive_fault_pct), 'interactive transactions', NULL
  ) AS interactive_missing,
  jobs AS batch_jobs,
  100 * batch_s / nullIf(interval_s, 0) / jobs AS batch_cpu_pct,
  100 * faulted_s / nullIf(interval_s, 0) / jobs AS batch_fault_pct,
  if(jobs > 0, 100 * faulted_s / nullIf(faulted_s + batch_s, 0), NULL) AS batch_fault_to_work_pct,
  multiIf(
    isNull(faults), 'faults', isNull(disk_response_ms), 'disk response', isNull(jobs), 'batch jobs', NULL
  ) AS batch_missing
FROM
(
  SELECT
    ts, system, p.pool AS pool, maxIf(p.interval_s, is_pool) AS interval_s,
    ifNull(abs(maxIf(p.interval_s, NOT is_pool) - interval_s) <= 0.1 * interval_s, true) AS alike,
    max(p.pool_name) AS pool_name, max(p.size_mb) AS size_mb, max(p.reserved_mb) AS reserved_mb, sum(p.faults) AS faults,
    max(p.activity_level) AS activity_level, sum(p.active_to_ineligible) AS active_to_ineligible,
    if(alike, sumIf(p.transactions, job_type = 'I'), NULL) AS transactions,
    if(alike, sumIf(p.transactions, job_type = 'I' AND isNotNull(p.response_s)), NULL) AS timed,
    sumIf(p.response_s, job_type = 'I' AND isNotNull(p.transactions)) AS responded_s,
    sumIf(p.cpu_ms, job_type NOT IN ('I', 'V')) / 1000 AS batch_s,
    if(alike, nullIf(sumIf(p.tasks, job_type NOT IN ('I', 'V') AND NOT secondary_thread), 0), NULL) AS jobs
  FROM
  (
    SELECT
      ts, system, trim(LEADING '0' FROM b.pool) AS pool, interval_s, pool_name, size_mb, reserved_mb, faults, activity_level,
      active_to_ineligible, NULL AS job_type, NULL AS transactions, NULL AS response_s, NULL AS cpu_ms, 0 AS tasks,
      false AS secondary_thread, true AS is_pool
    FROM counterflow.pool AS b FINAL
    WHERE source = 'ibmi_tables'
    UNION ALL
    SELECT
      ts, system, ifNull(trim(LEADING '0' FROM job_pool), ''), interval_s, NULL, NULL, NULL, NULL, NULL, NULL,
      job_type, transactions, response_s, cpu_ms, if(summarised_tasks > 0, assumeNotNull(summarised_tasks), 1),
      ifNull(j.secondary_thread, false), false
    FROM counterflow.job AS j FINAL
    WHERE source = 'ibmi_tables'
  ) AS p
  GROUP BY system, p.pool, ts
  HAVING max(is_pool)
) AS pools
LEFT JOIN (SELECT system, ts, response_ms AS disk_response_ms FROM counterflow.disk_total) AS disks USING (system, ts)
