-- Which counters are there, and how large are they? Every metric by hour, with mean and extremes.
-- section: Data and pipeline
SELECT
  c.metric AS metric,
  c.system AS system,
  uniqExact(c.instance) AS instances,
  sum(c.n) AS readings,
  round(sum(c.total) / nullIf(sum(c.n), 0), 3) AS mean,
  min(c.lo) AS lowest,
  max(c.hi) AS highest,
  max(c.ts) AS last_hour
FROM counterflow.metric_hour AS c
WHERE <chosen c>
GROUP BY metric, system
ORDER BY system, metric
LIMIT 1000
