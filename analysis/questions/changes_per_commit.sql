-- How many changes does a job make before it commits? Few changes a commit mean many waits for the journal.
-- section: Logical database I/O
SELECT
  m.system AS system,
  m.name AS job,
  sum(m.commits) AS commits_total,
  sum(m.rollbacks) AS rollbacks_total,
  sumIf(m.inserts + m.other - m.commits - coalesce(m.rollbacks, 0), m.commits IS NOT NULL) AS changes,
  round(changes / nullIf(commits_total, 0), 1) AS changes_per_commit
FROM counterflow.io_mix AS m FINAL
WHERE m.grouping = 'job'
  AND <chosen m>
GROUP BY system, job
HAVING commits_total > 0
ORDER BY commits_total DESC, system, job
LIMIT 20
