-- Which jobs fault most? Page faults in all, and a second while the job was there.
-- section: Jobs
SELECT
  g.system AS system,
  g.name AS job,
  sum(g.page_faults) AS faults,
  round(sum(g.page_faults) / nullIf(sumIf(g.interval_s, g.page_faults IS NOT NULL), 0), 2) AS faults_per_s,
  round(max(g.page_faults / nullIf(g.interval_s, 0)), 2) AS faults_per_s_max
FROM (
  SELECT system, ts, name, max(interval_s) AS interval_s, sum(page_faults) AS page_faults
  FROM counterflow.job_by(grouping = 'job')
  WHERE <chosen>
  GROUP BY system, ts, name
) AS g
GROUP BY system, job
HAVING faults > 0
ORDER BY faults DESC, system, job
LIMIT 20
