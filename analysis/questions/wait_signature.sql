-- What is the wait signature of a job? Its time by wait group, of the ten job names with most time that is not idle.
-- section: Waits
WITH busiest AS (
  SELECT system, name
  FROM counterflow.wait_profile
  WHERE grouping = 'job' AND wait_group != 'other' AND <chosen>
  GROUP BY system, name
  ORDER BY sum(seconds) DESC, system, name
  LIMIT 10
)
SELECT
  p.system AS system,
  p.name AS job,
  p.wait_group AS wait_group,
  round(sum(p.seconds), 1) AS time_s,
  round(100 * sum(p.seconds) / nullIf(sum(sum(p.seconds)) OVER (PARTITION BY p.system, p.name), 0), 1) AS share_pct,
  sum(p.waits) AS waits_total
FROM counterflow.wait_profile AS p
WHERE p.grouping = 'job' AND (p.system, p.name) IN busiest AND <chosen p>
GROUP BY system, job, wait_group
HAVING time_s > 0
ORDER BY system, job, time_s DESC, wait_group
LIMIT 80
