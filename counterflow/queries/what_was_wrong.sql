-- What was not as it should be, when, for how long, and why? The newest spells of a state other than OK.
-- section: Verdicts
SELECT
  v.system AS system,
  v.rule AS rule,
  v.entity AS entity,
  v.state AS state,
  v.since - toIntervalMillisecond(toUInt64(1000 * coalesce(argMin(v.interval_s, v.ts), 0))) AS spell_begin,
  max(v.ts) AS spell_end,
  round(dateDiff('second', spell_begin, spell_end) / 60, 1) AS minutes,
  argMin(v.reason, v.ts) AS reason
FROM counterflow.verdict AS v FINAL
WHERE v.state NOT IN ('OK', 'STALE') AND (empty({systems:Array(String)}) OR has({systems:Array(String)}, v.system))
  AND v.ts > {since:DateTime64(3)} AND v.ts <= {until:DateTime64(3)}
GROUP BY system, rule, v.entity_type, entity, state, v.since
ORDER BY spell_begin DESC, system, rule, entity
LIMIT 50
