-- Which batch jobs would gain from being split? Rows changed while no other task of the generic name did, and what mirroring them one after the other would cost a day.
-- section: Links and Db2 Mirror
SELECT
  system,
  job,
  is_batch,
  round(serial_changes_a_day) AS serial_changes_per_day,
  round(100 * serial_changes_a_day / nullIf(changes_a_day, 0), 1) AS serial_pct,
  round(serial_busiest_per_s, 1) AS busiest_changes_per_s,
  line_km,
  round(serial_changes_a_day * change_ms, 1) AS serial_ms_per_day,
  -- of a second of the busiest interval: above 100 the job cannot keep its pace
  round(100 * serial_busiest_per_s * change_ms / 1000, 1) AS busiest_wait_pct,
  if(line_km IS NULL, reason, NULL) AS missing
FROM counterflow.mirror_cost(since = {since:DateTime64(3)}, until = {until:DateTime64(3)})
WHERE serial_changes_a_day > 0
  AND (empty({systems:Array(String)}) OR has({systems:Array(String)}, system))
ORDER BY serial_ms_per_day DESC NULLS LAST, serial_changes_a_day DESC, system, job
LIMIT 20
