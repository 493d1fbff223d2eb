-- Which three jobs used most processor time in each hour? The newest hours first.
-- section: Jobs
SELECT
  c.system AS system,
  toStartOfHour(c.ts - 1) AS hour_begin,
  c.name AS job,
  round(sum(c.cpu_ms) / 1000, 1) AS cpu_s
FROM counterflow.job_cpu AS c
WHERE c.grouping = 'job'
  AND <chosen c>
GROUP BY system, hour_begin, job
ORDER BY hour_begin DESC, system, cpu_s DESC, job
LIMIT 3 BY system, hour_begin
LIMIT 300
