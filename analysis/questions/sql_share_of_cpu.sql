-- Which jobs spend their processor time in SQL? The share is of jobs whose SQL time is known.
-- section: Jobs
SELECT
  c.system AS system,
  c.name AS job,
  round(sum(c.cpu_ms) / 1000, 1) AS cpu_s,
  round(sum(c.sql_cpu_ms) / 1000, 1) AS sql_cpu_s,
  round(100 * sum(c.sql_cpu_ms) / nullIf(sumIf(c.cpu_ms, c.sql_cpu_ms IS NOT NULL), 0), 1) AS sql_pct
FROM counterflow.job_cpu AS c
WHERE c.grouping = 'job'
  AND <chosen c>
GROUP BY system, job
HAVING sql_cpu_s IS NOT NULL
ORDER BY sql_cpu_s DESC, system, job
LIMIT 20
