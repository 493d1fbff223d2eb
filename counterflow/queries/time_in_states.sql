-- How long was each thing in which state? From the verdicts' spells; a spell without new data is counted in stale intervals.
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
FROM (
  -- as the view verdict_spell, of this range alone: the view has to read every verdict there ever was
  SELECT
    v.rule AS rule, v.system AS system, v.entity_type AS entity_type, v.entity AS entity, v.state AS state,
    min(v.ts) - toIntervalMillisecond(toUInt64(1000 * coalesce(argMin(v.interval_s, v.ts), 0))) AS start_ts,
    max(v.ts) AS end_ts,
    countIf(v.stale) AS stale_intervals
  FROM counterflow.verdict AS v FINAL
  WHERE (empty({systems:Array(String)}) OR has({systems:Array(String)}, v.system))
    AND v.ts > {since:DateTime64(3)} AND v.ts <= {until:DateTime64(3)}
  GROUP BY rule, system, entity_type, entity, state, v.since
)
GROUP BY rule, system, entity_type, entity, state
ORDER BY rule, system, entity_type, entity, minutes DESC
LIMIT 200
