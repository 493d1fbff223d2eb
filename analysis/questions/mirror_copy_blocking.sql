-- Which jobs copy rows and should insert in blocks, as CPYF does? They insert about as much as they read and update little; no counter names the command.
-- section: Links and Db2 Mirror
SELECT
  system,
  job,
  round(reads_a_day) AS reads_per_day,
  round(inserts_a_day) AS inserts_per_day,
  round(updates_a_day) AS updates_and_deletes_per_day,
  line_km,
  -- an insert is a row, or a block where the file is sequential-only: then the cost is the one after blocking
  round(inserts_a_day * change_ms, 1) AS inserts_ms_per_day,
  if(line_km IS NULL, reason, NULL) AS missing
FROM counterflow.mirror_cost(since = {since:DateTime64(3)}, until = {until:DateTime64(3)})
WHERE inserts_a_day > 0 AND abs(inserts_a_day - reads_a_day) <= <copy_deviation_pct.limit/100> * reads_a_day
  AND updates_a_day <= <copy_deviation_pct.limit/100> * inserts_a_day
  AND (empty({systems:Array(String)}) OR has({systems:Array(String)}, system))
ORDER BY inserts_ms_per_day DESC NULLS LAST, inserts_a_day DESC, system, job
LIMIT 20
