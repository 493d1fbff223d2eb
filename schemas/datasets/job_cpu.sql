-- The row of a job's first thread also has the time of the whole job, `job_cpu_ms`: the same time again, not added.
-- One branch per grouping: a predicate on the grouping leaves one of them to read.
WITH jobs AS (SELECT * FROM counterflow.job FINAL WHERE source = 'ibmi_tables')
SELECT
  ts, max(g.interval_s) AS interval_s, system, grouping, assumeNotNull(group_name) AS name,
  sum(g.cpu_ms) AS cpu_ms,
  cpu_ms / nullIf(1000 * interval_s, 0) AS cpu_cores,
  sum(g.sql_cpu_ms) AS sql_cpu_ms,
  sum(if(summarised_tasks > 0, assumeNotNull(summarised_tasks), 1)) AS tasks
FROM
(
  SELECT 'partition' AS grouping, toNullable('*') AS group_name, * FROM jobs
  UNION ALL SELECT 'accounting_code' AS grouping, accounting_code AS group_name, * FROM jobs
  UNION ALL SELECT 'subsystem' AS grouping, subsystem AS group_name, * FROM jobs
  UNION ALL SELECT 'user' AS grouping, job_user AS group_name, * FROM jobs
  UNION ALL SELECT 'pool' AS grouping, job_pool AS group_name, * FROM jobs
  UNION ALL SELECT 'job_type' AS grouping, job_type AS group_name, * FROM jobs
  UNION ALL SELECT 'generic_job' AS grouping, left(job_name, 6) AS group_name, * FROM jobs
  UNION ALL SELECT 'job' AS grouping, job_name AS group_name, * FROM jobs
  UNION ALL SELECT 'thread' AS grouping, toNullable(job) AS group_name, * FROM jobs
) AS g
WHERE isNotNull(group_name)
GROUP BY system, grouping, group_name, ts
