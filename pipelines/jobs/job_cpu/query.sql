-- Who uses the processors: which account, user, subsystem, job or type of job?
--
-- One row per group of jobs, and one of all (`partition`), the base of a share. `n` of the partition counts every
-- job row, as the manifest does; `n` of the others counts the rows that name the group.
--
-- cpu        sum over the rows of threads and tasks: a job's secondary threads have rows of their own, tasks too short
--            for a row of their own are in a summary row. The row of a job's first thread also has the time of the
--            whole job, which is the same time again and is not added.
-- cores      processor time / length of the interval.
--
-- Sources: QAPMJOBMI (schemas/datasets/job.yaml).

CREATE TEMPORARY VIEW known AS
SELECT
  `system`, ts, interval_s, job_name, job_user, subsystem, accounting_code, job_type, cpu_ms, sql_cpu_ms,
  CASE WHEN summarised_tasks > 0 THEN summarised_tasks ELSE 1 END AS tasks
FROM distinct_job
WHERE source = 'ibmi_tables';

-- An array of a row's groups, not a branch per group: see io_mix.
CREATE TEMPORARY VIEW grouped AS
SELECT k.`grouping`, k.name, o.*
FROM (
  SELECT *, ARRAY[
    ROW('partition', '*'),
    ROW('accounting_code', accounting_code),
    ROW('subsystem', subsystem),
    ROW('user', job_user),
    ROW('job', job_name),
    ROW('generic_job', SUBSTRING(job_name, 1, 6)),
    ROW('job_type', job_type)
  ] AS names
  FROM known
) AS o
CROSS JOIN UNNEST(o.names) AS k (`grouping`, name)
WHERE k.name IS NOT NULL;

INSERT INTO job_cpu (ts, interval_s, `system`, n, `grouping`, name, cpu_ms, cpu_cores, sql_cpu_ms, tasks)
SELECT
  ts, MAX(interval_s), `system`, COUNT(*), `grouping`, name,
  SUM(cpu_ms),
  SUM(cpu_ms) / NULLIF(MAX(interval_s) * 1000, 0),
  SUM(sql_cpu_ms),
  SUM(tasks)
FROM grouped
GROUP BY `system`, `grouping`, name, ts;
