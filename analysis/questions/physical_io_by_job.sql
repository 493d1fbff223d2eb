-- Which jobs wait for their disk I/O, and which do it asynchronously? Synchronous and asynchronous reads and writes by job.
-- section: Jobs
SELECT
  g.system AS system,
  g.name AS job,
  sum(g.sync_reads) AS synchronous_reads,
  sum(g.sync_writes) AS synchronous_writes,
  sum(g.async_reads) AS asynchronous_reads,
  sum(g.async_writes) AS asynchronous_writes,
  round(100 * (synchronous_reads + synchronous_writes)
    / nullIf(synchronous_reads + synchronous_writes + asynchronous_reads + asynchronous_writes, 0), 1) AS synchronous_pct
FROM counterflow.job_by(grouping = 'job') AS g
WHERE <chosen g>
GROUP BY system, job
HAVING synchronous_reads + synchronous_writes > 0
ORDER BY synchronous_reads + synchronous_writes DESC, system, job
LIMIT 20
