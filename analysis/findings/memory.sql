-- How much memory was left at the worst moment?
-- rule: to watch where programs and the kernel held more than <memory_used_pct.limit> %
SELECT
  system,
  if(100 - least > <memory_used_pct.limit>, 'watch', 'note') AS severity,
  argMin(m.ts, (available_pct, m.ts)) AS at,
  concat(toString(round(min(available_pct) AS least, 1)), ' % of ',
    toString(round(argMax(size_mb, m.ts) / 1024, 1)), ' GB of memory free or cached at the least') AS finding
FROM counterflow.memory_use AS m
WHERE available_pct IS NOT NULL
  AND <chosen>
GROUP BY system
