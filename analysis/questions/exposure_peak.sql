-- When would Db2 Mirror touch most? The ten intervals with most reads for update, inserts, updates and deletes, and the jobs behind them.
-- section: Logical database I/O
SELECT
  m.system AS system,
  m.ts AS interval_end,
  round(m.exposure_pct * m.row_operations / 100) AS touched_operations,
  round(m.exposure_pct * m.row_operations / 100 / nullIf(m.interval_s, 0), 1) AS touched_per_s,
  round(m.exposure_pct, 1) AS exposure_pct,
  multiIf(
    m.modify_basis = 'changes', if(m.split = 'four-way', 'exact', 'at least'),
    m.split = 'four-way', 'at most: commits are counted in',
    'no bound: commits are counted in, reads for update are not'
  ) AS exposure_is,
  j.jobs AS generic_jobs
FROM counterflow.io_mix AS m FINAL
LEFT JOIN (
  SELECT
    system, ts,
    arrayMap(one -> one.2, arraySlice(arrayReverseSort(groupArray((exposure_pct * row_operations, name))), 1, 3)) AS jobs
  FROM counterflow.io_mix FINAL
  WHERE grouping = 'generic_job' AND exposure_pct * row_operations > 0
    AND <chosen>
  GROUP BY system, ts
) AS j ON j.system = m.system AND j.ts = m.ts
WHERE m.grouping = 'partition' AND m.exposure_pct IS NOT NULL
  AND <chosen m>
ORDER BY touched_operations DESC, system, interval_end
LIMIT 10 BY system
LIMIT 100
