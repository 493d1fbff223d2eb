-- Which jobs open files again and again? Full opens, and SQL cursors that were opened in full or reused.
-- section: Jobs
SELECT
  system,
  job,
  full_opens_total,
  if(longer, NULL, sql_opens) AS sql_full_opens_total,
  if(longer, NULL, reused) AS sql_pseudo_opens_total,
  if(longer, NULL, round(100 * sql_opens_known / nullIf(cursors_known, 0), 1)) AS sql_full_pct
FROM (
  SELECT
    system,
    coalesce(job_name, command) AS job,
    sum(full_opens) AS full_opens_total,
    sum(sql_full_opens) AS sql_opens,
    sum(sql_pseudo_opens) AS reused,
    sumIf(sql_full_opens, sql_pseudo_opens IS NOT NULL) AS sql_opens_known,
    sum(sql_full_opens + sql_pseudo_opens) AS cursors_known,
    -- where SQL opened more than was opened in all, cursors are counted for longer than an interval: no sum is known
    ifNull(max(max(sql_full_opens > full_opens)) OVER (PARTITION BY system), 0) AS longer
  FROM counterflow.job FINAL
  WHERE source = 'ibmi_tables'
    AND <chosen>
  GROUP BY system, job
)
WHERE full_opens_total > 0 OR sql_opens > 0
ORDER BY full_opens_total DESC NULLS LAST, sql_full_opens_total DESC NULLS LAST, system, job
LIMIT 20
