-- Which share of logical database I/O would mirroring have to carry?
-- rule: none, always stated
SELECT
  system,
  'note' AS severity,
  argMin(m.ts, (-logical_io, m.ts)) AS at,
  concat(if(counted_in, 'at most ', ''), toString(round(100 * sum(row_operations - reads) / nullIf(sum(row_operations), 0), 1)), ' % of ',
    toString(round(sum(row_operations) / sum(interval_s), 1)), ' row operations/s modify rows',
    if(countIf(modify_basis != 'changes') > 0 AS counted_in,
      '; commits and rollbacks are counted in, since their numbers are missing or exceed the other operations', '')) AS finding
FROM counterflow.io_mix AS m FINAL
WHERE grouping = 'partition' AND row_operations IS NOT NULL AND interval_s > 0
  AND <chosen>
GROUP BY system
HAVING sum(row_operations) > 0
