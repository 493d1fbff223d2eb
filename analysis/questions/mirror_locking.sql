-- Where would locks and commitment control cost most under mirroring? Reads for update lock on both nodes. No counter shows lock escalation itself: record locks held and waits for locks hint at it.
-- section: Links and Db2 Mirror
SELECT
  system,
  job,
  round(reads_for_update_a_day) AS locks_per_day,
  round(record_locks_max) AS record_locks_held_max,
  round(commits_a_day) AS commits_per_day,
  round(rollbacks_a_day) AS rollbacks_per_day,
  round(changes_per_commit, 1) AS changes_a_commit,
  round(1000 * lock_wait_s_a_day) AS lock_wait_ms_per_day,
  line_km,
  round(reads_for_update_a_day * lock_ms, 1) AS locks_ms_per_day,
  reason
FROM counterflow.mirror_cost(since = {since:DateTime64(3)}, until = {until:DateTime64(3)})
WHERE (reads_for_update_a_day > 0 OR commits_a_day > 0 OR lock_wait_s_a_day > 0 OR record_locks_max > 0)
  AND (empty({systems:Array(String)}) OR has({systems:Array(String)}, system))
ORDER BY locks_ms_per_day DESC NULLS LAST, reads_for_update_a_day DESC NULLS LAST, lock_wait_s_a_day DESC NULLS LAST, system, job
LIMIT 20
