-- Who uses the processors: which accounting code, subsystem, user, job or type of job? Each grouping is the same time again.
-- section: Processors
WITH whole AS (
  SELECT system, sum(cpu_ms) AS all_ms, sum(interval_s) AS recorded_s
  FROM counterflow.job_cpu
  WHERE grouping = 'partition' AND ts > {since:DateTime64(3)} AND ts <= {until:DateTime64(3)}
  GROUP BY system
)
SELECT
  c.system AS system,
  c.grouping AS grouping,
  c.name AS name,
  round(sum(c.cpu_ms) / 1000, 1) AS cpu_s,
  round(sum(c.cpu_ms) / 1000 / nullIf(any(whole.recorded_s) - sum(if(c.cpu_ms IS NULL, c.interval_s, 0)), 0), 3) AS cores_avg,
  round(100 * sum(c.cpu_ms) / nullIf(any(whole.all_ms), 0), 1) AS share_pct
FROM counterflow.job_cpu AS c
INNER JOIN whole USING (system)
WHERE c.grouping IN ('accounting_code', 'subsystem', 'user', 'job', 'generic_job', 'job_type')
  AND <chosen c>
GROUP BY system, grouping, name
ORDER BY system, grouping, cpu_s DESC, name
LIMIT 20 BY system, grouping
