-- Which ten jobs modify most of what they touch? Inserts, updates and deletes among the logical database I/O.
-- section: Logical database I/O
SELECT
  m.system AS system,
  m.name AS job,
  sum(m.logical_io) AS logical_io_total,
  sum(m.row_operations - m.reads) AS modifying_total,
  round(100 * modifying_total / nullIf(sum(m.row_operations), 0), 1) AS modify_pct_avg,
  round(max(m.modify_pct), 1) AS modify_pct_max,
  if(countIf(m.modify_basis != 'changes') = 0, 'changes', 'with_commits') AS modify_basis
FROM counterflow.io_mix AS m FINAL
WHERE m.grouping = 'job'
  AND <chosen m>
GROUP BY system, job
HAVING logical_io_total > 0
ORDER BY modify_pct_avg DESC, modifying_total DESC, system, job
LIMIT 10
