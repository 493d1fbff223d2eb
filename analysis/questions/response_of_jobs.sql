-- Which interactive jobs answer slowly? Response time weighted by transactions.
-- section: Jobs
SELECT
  g.system AS system,
  g.name AS job,
  sum(g.transactions) AS transactions_total,
  round(sum(g.response_s) / nullIf(sum(g.timed), 0), 3) AS response_s_avg,
  round(max(g.response_s / nullIf(g.timed, 0)), 3) AS worst_interval_response_s
FROM (
  SELECT
    system, ts, name, sum(transactions) AS transactions, sum(timed_transactions) AS timed, sum(response_s) AS response_s
  FROM counterflow.job_by(grouping = 'job')
  WHERE <chosen>
  GROUP BY system, ts, name
) AS g
GROUP BY system, job
HAVING transactions_total > 0
ORDER BY response_s_avg DESC NULLS LAST, system, job
LIMIT 20
