-- From which rate on do threads wait for the log? Intervals by rate, in steps of 50 MB/s, and the threads that waited.
-- section: Db2 log
SELECT
  l.system AS system,
  l.subsystem AS subsystem,
  l.path AS path,
  l.rate_basis AS basis,
  50 * intDiv(assumeNotNull(l.rate_mb_s), 50) AS from_mb_s,
  count() AS intervals,
  sum(l.waits_delta) AS waits,
  round(100 * sumIf(l.waiting_threads * l.interval_s, l.active_threads IS NOT NULL)
    / nullIf(sumIf(l.active_threads * l.interval_s, l.waiting_threads IS NOT NULL), 0), 1) AS waiting_pct
FROM counterflow.log_load AS l FINAL
WHERE l.rate_mb_s IS NOT NULL
  AND <chosen l>
GROUP BY system, subsystem, path, basis, from_mb_s
ORDER BY system, subsystem, path, basis, from_mb_s
LIMIT 200
