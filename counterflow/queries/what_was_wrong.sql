-- What was not as it should be, when, for how long, and why? The newest spells of a state other than OK.
-- section: Verdicts
SELECT
  s.system AS system,
  s.rule AS rule,
  s.entity AS entity,
  s.state AS state,
  s.start_ts AS spell_begin,
  s.end_ts AS spell_end,
  round(dateDiff('second', s.start_ts, s.end_ts) / 60, 1) AS minutes,
  s.reason AS reason
FROM counterflow.verdict_spell AS s
WHERE s.state NOT IN ('OK', 'STALE') AND (empty({systems:Array(String)}) OR has({systems:Array(String)}, s.system))
  AND s.end_ts > {since:DateTime64(3)} AND s.start_ts < {until:DateTime64(3)}
ORDER BY spell_begin DESC, system, rule, entity
LIMIT 50
