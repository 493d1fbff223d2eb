-- How many changes does a job make before it commits? Few changes a commit mean many waits for the journal.
-- section: Logical database I/O
SELECT
  m.system AS system,
  m.name AS job,
  sum(m.commits) AS commits_total,
  sum(m.rollbacks) AS rollbacks_total,
  sumIf(m.row_operations - m.reads, m.modify_basis = 'changes') AS changes,
  round(changes / nullIf(sumIf(m.commits, m.modify_basis = 'changes'), 0), 1) AS changes_per_commit,
  if(
    countIf(m.modify_basis = 'changes') = count(), NULL,
    'without intervals in which commits or rollbacks are not reported, or exceed the other operations'
  ) AS reason
FROM counterflow.io_mix AS m FINAL
WHERE m.grouping = 'job'
  AND <chosen m>
GROUP BY system, job
HAVING commits_total > 0
ORDER BY commits_total DESC, system, job
LIMIT 20
