-- How close to its ceiling is Db2's log? Share of the ceiling by log and path, and the time at <log_ceiling_used_pct.limit> % and more.
-- section: Db2 log
SELECT
  l.system AS system,
  l.subsystem AS subsystem,
  l.path AS path,
  if(uniqExact(l.rate_basis) > 1, 'several', any(l.rate_basis)) AS basis, -- rates on different bases have no mean
  round(if(basis = 'several', NULL,
    sum(l.rate_mb_s * l.interval_s) / nullIf(sumIf(l.interval_s, l.rate_mb_s IS NOT NULL), 0)), 1) AS mb_s_avg,
  if(basis = 'several', NULL, round(max(l.rate_mb_s), 1)) AS mb_s_max,
  argMaxIf(l.ceiling_mb_s, l.ts, l.ceiling_mb_s IS NOT NULL) AS ceiling_mb_s_now,
  round(max(l.ceiling_pct), 1) AS of_ceiling_pct_max,
  round(
    100 * sum(l.interval_s * (l.ceiling_pct >= <log_ceiling_used_pct.limit>))
      / nullIf(sumIf(l.interval_s, l.ceiling_pct IS NOT NULL), 0),
    1
  ) AS time_near_ceiling_pct
FROM counterflow.log_load AS l FINAL
WHERE <chosen l>
GROUP BY system, subsystem, path
ORDER BY of_ceiling_pct_max DESC NULLS LAST, system, subsystem, path
LIMIT 50
