-- What was not as it should be, when, for how long, and why? The newest spells of a state other than OK.
-- section: Verdicts
SELECT
  system,
  rule,
  entity,
  state,
  begin_ts AS spell_begin,
  end_ts AS spell_end,
  round(dateDiff('second', spell_begin, spell_end) / 60, 1) AS minutes,
  reason
FROM counterflow.verdict_spell_within(since = {since:DateTime64(3)}, until = {until:DateTime64(3)})
WHERE state NOT IN ('OK', 'STALE') AND (empty({systems:Array(String)}) OR has({systems:Array(String)}, system))
ORDER BY spell_begin DESC, system, rule, entity
LIMIT 50
