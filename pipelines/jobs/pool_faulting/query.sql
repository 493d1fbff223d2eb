-- Would memory help?
--
-- One row per memory pool: how much of its jobs' time goes into page faults. Faults come from the pool's counters,
-- transactions and batch jobs from the job rows that name the pool, and the time of a fault from the disks of the whole
-- system. `n` counts the pool's row, its job rows and the system's disk rows (`disks`); it grows as they arrive.
--
-- interactive  disk response × faults/s / transactions/s = time in faults of a transaction; / its response.
-- batch        faults/s × disk response / batch jobs = share of the time that one job spends in faults. A job that waits
--              for a processor faults less, so it is also set against its time at the processor: faults / (faults + CPU).
--              The jobs are those that used CPU: where they ran one after another, not at once, a figure for one job is
--              a lower bound; faults / (faults + CPU) does not depend on their number.
-- null         where an input is missing; the columns ..._missing name it.
--
-- Sources: QAPMPOOLB, QAPMJOBMI, QAPMDISK; Performance Capabilities Reference IBM i, 19.6 (19.1 for ineligible).

CREATE TEMPORARY VIEW known_disks AS
SELECT
  `system`, ts, CASE WHEN leaf AND service_ms + wait_ms IS NOT NULL THEN transfers END AS transfers,
  CASE WHEN leaf THEN (service_ms + wait_ms) * transfers END AS response_ms
FROM distinct_disk
WHERE source = 'ibmi_tables';

CREATE TEMPORARY VIEW known_pools AS
SELECT
  `system`, TRIM(LEADING '0' FROM pool) AS pool, ts, interval_s, pool_name, size_mb, reserved_mb, faults,
  activity_level, active_to_ineligible
FROM distinct_pool
WHERE source = 'ibmi_tables';

CREATE TEMPORARY VIEW known_jobs AS
SELECT
  `system`, COALESCE(TRIM(LEADING '0' FROM job_pool), '') AS pool, ts, interval_s,
  CASE WHEN job_type = 'I' THEN transactions END AS transactions,
  CASE WHEN job_type = 'I' THEN response_s END AS response_s,
  CASE WHEN job_type = 'B' THEN cpu_ms END AS batch_cpu_ms,
  CASE
    WHEN job_type <> 'B' OR secondary_thread THEN 0
    WHEN job_type = 'B' THEN CASE WHEN summarised_tasks > 0 THEN summarised_tasks ELSE 1 END
  END AS batch_jobs
FROM distinct_job
WHERE source = 'ibmi_tables';

CREATE TEMPORARY VIEW by_pool AS
SELECT
  `system`, pool, ts, COUNT(*) AS n, MAX(interval_s) AS interval_s, MAX(pool_name) AS pool_name,
  MAX(size_mb) AS size_mb, MAX(reserved_mb) AS reserved_mb, SUM(faults) AS faults,
  MAX(activity_level) AS activity_level, SUM(active_to_ineligible) AS active_to_ineligible,
  SUM(transactions) AS transactions, SUM(response_s) AS response_s,
  SUM(batch_cpu_ms) AS batch_cpu_ms, SUM(batch_jobs) AS batch_jobs
FROM (
  SELECT
    `system`, pool, ts, interval_s, pool_name, size_mb, reserved_mb, faults, activity_level, active_to_ineligible,
    CAST(NULL AS DOUBLE) AS transactions, CAST(NULL AS DOUBLE) AS response_s,
    CAST(NULL AS DOUBLE) AS batch_cpu_ms, CAST(NULL AS DOUBLE) AS batch_jobs
  FROM known_pools
  UNION ALL
  SELECT
    `system`, pool, ts, interval_s, CAST(NULL AS STRING), CAST(NULL AS DOUBLE), CAST(NULL AS DOUBLE),
    CAST(NULL AS DOUBLE), CAST(NULL AS DOUBLE), CAST(NULL AS DOUBLE),
    transactions, response_s, batch_cpu_ms, batch_jobs
  FROM known_jobs
)
GROUP BY `system`, pool, ts;

-- Every pool row is in it too, without figures, so that a pool finds the row of its system whether there are disks or
-- not: an inner join, which deletes nothing.
CREATE TEMPORARY VIEW by_system AS
SELECT
  `system`, ts, SUM(disks) AS disks,
  CASE WHEN SUM(transfers) > 0 THEN SUM(response_ms) / SUM(transfers) / 1000 END AS disk_response_s
FROM (
  SELECT `system`, ts, 1 AS disks, response_ms, transfers FROM known_disks
  UNION ALL
  SELECT `system`, ts, 0, CAST(NULL AS DOUBLE), CAST(NULL AS DOUBLE) FROM known_pools
)
GROUP BY `system`, ts;

CREATE TEMPORARY VIEW figures AS
SELECT
  p.ts, p.`system`, p.pool, p.n + s.disks AS n, p.pool_name, p.size_mb, p.reserved_mb, p.activity_level,
  p.active_to_ineligible, s.disks, s.disk_response_s, p.faults, NULLIF(p.interval_s, 0) AS seconds,
  p.interval_s, p.transactions, NULLIF(p.transactions, 0) AS some_transactions, p.response_s,
  NULLIF(p.response_s, 0) AS some_response_s,
  p.batch_cpu_ms / 1000 AS batch_cpu_s, NULLIF(p.batch_jobs, 0) AS batch_jobs,
  p.faults * s.disk_response_s AS fault_s
FROM by_pool AS p
JOIN by_system AS s ON p.`system` = s.`system` AND p.ts = s.ts;

INSERT INTO pool_faulting (
  ts, interval_s, `system`, n, pool, pool_name, size_mb, reserved_pct, faults_per_s, activity_level,
  active_to_ineligible, disks, disk_response_ms, transactions_per_s, response_s, fault_s, interactive_fault_pct,
  interactive_missing, batch_jobs, batch_cpu_pct, batch_fault_pct, batch_fault_to_work_pct, batch_missing
)
SELECT
  ts, interval_s, `system`, n, pool, pool_name, size_mb,
  100 * reserved_mb / NULLIF(size_mb, 0),
  faults / seconds,
  activity_level,
  active_to_ineligible,
  disks,
  disk_response_s * 1000,
  transactions / seconds,
  response_s / some_transactions,
  fault_s / some_transactions,
  CASE WHEN transactions > 0 THEN 100 * fault_s / some_response_s END,
  CASE
    WHEN faults IS NULL THEN 'faults'
    WHEN disk_response_s IS NULL THEN 'disk response'
    WHEN some_transactions IS NULL OR some_response_s IS NULL THEN 'interactive transactions'
  END,
  batch_jobs,
  100 * batch_cpu_s / seconds / batch_jobs,
  100 * fault_s / seconds / batch_jobs,
  CASE WHEN batch_jobs > 0 THEN 100 * fault_s / NULLIF(fault_s + batch_cpu_s, 0) END,
  CASE
    WHEN faults IS NULL THEN 'faults'
    WHEN disk_response_s IS NULL THEN 'disk response'
    WHEN batch_jobs IS NULL THEN 'batch jobs'
  END
FROM figures;
