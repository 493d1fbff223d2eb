-- How long was each link and log in which state? From the verdicts' spells; a spell without new data is counted in stale intervals.
-- section: Verdicts
SELECT
  rule,
  system,
  entity_type,
  entity,
  state,
  count() AS spells,
  round(sum(dateDiff('second', start_ts, end_ts)) / 60, 1) AS minutes,
  sum(stale_intervals) AS intervals_stale,
  max(end_ts) AS last_seen
FROM counterflow.verdict_spell_within(since = {since:DateTime64(3)}, until = {until:DateTime64(3)})
WHERE empty({systems:Array(String)}) OR has({systems:Array(String)}, system)
GROUP BY rule, system, entity_type, entity, state
ORDER BY rule, system, entity_type, entity, minutes DESC
LIMIT 200
