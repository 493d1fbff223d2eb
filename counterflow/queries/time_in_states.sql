-- How long was each thing in which state? From the verdicts' spells; a spell without new data is counted in stale intervals.
-- section: Verdicts
SELECT
  s.rule AS rule,
  s.system AS system,
  s.entity_type AS entity_type,
  s.entity AS entity,
  s.state AS state,
  count() AS spells,
  round(sum(dateDiff('second', s.start_ts, s.end_ts)) / 60, 1) AS minutes,
  sum(s.stale_intervals) AS intervals_stale,
  max(s.end_ts) AS last_seen
FROM counterflow.verdict_spell AS s
WHERE (empty({systems:Array(String)}) OR has({systems:Array(String)}, s.system)) AND s.end_ts > {since:DateTime64(3)}
  AND s.start_ts < {until:DateTime64(3)}
GROUP BY rule, system, entity_type, entity, state
ORDER BY rule, system, entity_type, entity, minutes DESC
LIMIT 200
