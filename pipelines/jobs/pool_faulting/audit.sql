-- The results of pool_faulting, from the definitions in schemas/datasets/pool_faulting.yaml and docs/kpis/pool-faulting.md.
WITH
  disks AS
  (
    SELECT
      system, ts, count() AS disk_rows, max(landed_at) AS disks_at,
      sumIf((service_ms + wait_ms) * transfers, leaf)
        / nullIf(sumIf(transfers, leaf AND isNotNull(service_ms + wait_ms)), 0) / 1000 AS disk_s
    FROM counterflow.disk FINAL
    WHERE source = 'ibmi_tables' AND ts >= {from:DateTime64(3, 'UTC')} AND ts < {to:DateTime64(3, 'UTC')}
    GROUP BY system, ts
  ),
  pools AS
  (
    SELECT
      system, trim(LEADING '0' FROM p.pool) AS called, ts, p.landed_at AS at, p.interval_s AS length_s, p.pool_name AS title,
      p.size_mb AS size, p.reserved_mb AS reserved, p.faults AS faulted, p.activity_level AS level,
      p.active_to_ineligible AS ineligible
    FROM counterflow.pool AS p FINAL
    WHERE source = 'ibmi_tables' AND ts >= {from:DateTime64(3, 'UTC')} AND ts < {to:DateTime64(3, 'UTC')}
  ),
  work AS
  (
    SELECT
      system, ifNull(trim(LEADING '0' FROM job_pool), '') AS called, ts, count() AS job_rows, max(j.landed_at) AS jobs_at,
      max(j.interval_s) AS jobs_length_s,
      sumIf(transactions, job_type = 'I') AS done, sumIf(j.response_s, job_type = 'I') AS responded_s,
      sumIf(cpu_ms, job_type = 'B') / 1000 AS batch_s,
      sumIf(if(summarised_tasks > 0, summarised_tasks, 1), job_type = 'B' AND NOT ifNull(secondary_thread, false)) AS jobs
    FROM counterflow.job AS j FINAL
    WHERE source = 'ibmi_tables' AND ts >= {from:DateTime64(3, 'UTC')} AND ts < {to:DateTime64(3, 'UTC')}
    GROUP BY system, called, ts
  ),
  both AS
  (
    SELECT
      system, called, ts, count(pools.at) + max(ifNull(job_rows, 0)) AS members,
      max(greatest(ifNull(at, toDateTime(0)), ifNull(jobs_at, toDateTime(0)))) AS members_at,
      greatest(ifNull(max(length_s), max(jobs_length_s)), ifNull(max(jobs_length_s), max(length_s))) AS seconds,
      max(title) AS title, max(size) AS size, max(reserved) AS reserved, sum(faulted) AS faulted, max(level) AS level,
      sum(ineligible) AS ineligible, max(done) AS done, max(responded_s) AS responded_s, max(batch_s) AS batch_s,
      nullIf(max(jobs), 0) AS jobs
    FROM pools FULL JOIN work USING (system, called, ts)
    GROUP BY system, called, ts
  )
SELECT
  system, called AS pool, ts, members + ifNull(disk_rows, 0) AS n,
  greatest(members_at, ifNull(disks_at, members_at)) AS landed_at, seconds AS interval_s,
  title AS pool_name, size AS size_mb, 100 * reserved / nullIf(size, 0) AS reserved_pct,
  faulted / nullIf(seconds, 0) AS faults_per_s, level AS activity_level, ineligible AS active_to_ineligible,
  ifNull(disk_rows, 0) AS disks,
  1000 * disk_s AS disk_response_ms,
  done / nullIf(seconds, 0) AS transactions_per_s,
  responded_s / nullIf(done, 0) AS response_s,
  faulted * disk_s / nullIf(done, 0) AS fault_s,
  if(done > 0, 100 * faulted * disk_s / nullIf(responded_s, 0), NULL) AS interactive_fault_pct,
  multiIf(
    isNull(faulted), 'faults', isNull(disk_s), 'disk response',
    isNull(nullIf(done, 0)) OR isNull(nullIf(responded_s, 0)), 'interactive transactions', NULL
  ) AS interactive_missing,
  jobs AS batch_jobs,
  100 * batch_s / nullIf(seconds, 0) / jobs AS batch_cpu_pct,
  100 * faulted * disk_s / nullIf(seconds, 0) / jobs AS batch_fault_pct,
  if(jobs > 0, 100 * faulted * disk_s / nullIf(faulted * disk_s + batch_s, 0), NULL) AS batch_fault_to_work_pct,
  multiIf(
    isNull(faulted), 'faults', isNull(disk_s), 'disk response', isNull(jobs), 'batch jobs', NULL
  ) AS batch_missing
FROM both
LEFT JOIN disks USING (system, ts)
-- jobs alone, of a system without rows of pools and disks, make no result
WHERE isNotNull(disk_rows) OR (system, ts) IN (SELECT system, ts FROM pools)
