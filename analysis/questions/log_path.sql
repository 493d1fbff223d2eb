-- What did zHyperLink change? Time, rate, write time and waiting threads of each log by the path it was on.
-- section: Db2 log
SELECT
  l.system AS system,
  l.subsystem AS subsystem,
  l.path AS path,
  min(l.ts) AS first_seen,
  max(l.ts) AS last_seen,
  round(sumIf(l.interval_s, l.rate_mb_s IS NOT NULL OR l.waits_delta IS NOT NULL OR l.reset IS NOT NULL) / 3600, 2) AS time_h,
  if(uniqExact(l.rate_basis) > 1, 'several', any(l.rate_basis)) AS basis, -- rates on different bases have no mean
  round(if(basis = 'several', NULL,
    sum(l.rate_mb_s * l.interval_s) / nullIf(sumIf(l.interval_s, l.rate_mb_s IS NOT NULL), 0)), 1) AS mb_s_avg,
  round(max(l.log_write_ms), 3) AS log_write_ms_max,
  round(100 * sumIf(l.waiting_threads * l.interval_s, l.active_threads IS NOT NULL)
    / nullIf(sumIf(l.active_threads * l.interval_s, l.waiting_threads IS NOT NULL), 0), 1) AS waiting_pct,
  round(min(l.zhl_sync_pct), 1) AS zhl_sync_pct_min
FROM counterflow.log_load AS l FINAL
WHERE <chosen l>
GROUP BY system, subsystem, path
ORDER BY system, subsystem, first_seen
LIMIT 50
