-- Which jobs open for update without need? Reads for update that no update or delete follows, and what mirroring their locks would cost a day.
-- section: Links and Db2 Mirror
SELECT
  system,
  job,
  round(reads_for_update_a_day) AS reads_for_update_per_day,
  round(updates_a_day) AS updates_and_deletes_per_day,
  round(unneeded_a_day) AS unneeded_per_day,
  line_km,
  round(unneeded_a_day * lock_ms, 1) AS unneeded_ms_per_day,
  reason
FROM counterflow.mirror_cost(since = {since:DateTime64(3)}, until = {until:DateTime64(3)})
WHERE (empty({systems:Array(String)}) OR has({systems:Array(String)}, system))
  -- where reads for update are not counted, those that only read may be among them
  AND (unneeded_a_day > 0 OR reads_for_update_a_day IS NULL AND reads_a_day > 0)
ORDER BY unneeded_ms_per_day DESC NULLS LAST, unneeded_a_day DESC NULLS LAST, reads_a_day DESC, system, job
LIMIT 20
