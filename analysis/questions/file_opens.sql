-- Which jobs open files again and again? Full opens, and SQL cursors that were opened in full or reused.
-- section: Jobs
SELECT
  system,
  name AS job,
  sum(opens) AS full_opens_total,
  sum(sql_opens) AS sql_full_opens_total,
  sum(reused) AS sql_pseudo_opens_total,
  round(100 * sumIf(sql_opens, reused IS NOT NULL) / nullIf(sumIf(sql_opens + reused, sql_opens IS NOT NULL AND reused IS NOT NULL), 0), 1)
    AS sql_full_pct
FROM (
  SELECT
    system, coalesce(job_name, command) AS name,
    full_opens AS opens, sql_full_opens AS sql_opens, sql_pseudo_opens AS reused
  FROM counterflow.job FINAL
  WHERE source = 'ibmi_tables'
    AND (empty({systems:Array(String)}) OR has({systems:Array(String)}, system))
    AND ts > {since:DateTime64(3)} AND ts <= {until:DateTime64(3)}
)
GROUP BY system, job
HAVING full_opens_total > 0 OR sql_full_opens_total > 0
ORDER BY full_opens_total DESC NULLS LAST, sql_full_opens_total DESC NULLS LAST, system, job
LIMIT 20
