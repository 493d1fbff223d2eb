-- Which limits were hit, and for how long?
-- rule: a limit where the verdict is CAPPED or CRITICAL, to watch for any other state but OK, DEMAND_LIMITED, UNKNOWN, STALE
SELECT
  system,
  if(state IN ('CAPPED', 'CRITICAL'), 'limit', 'watch') AS severity,
  min(start_ts) AS at,
  concat(rule, ': ', entity, ' was ', transform(state, {states:Array(String)}, {words:Array(String)}, state),
    ' for ', toString(round(sum(dateDiff('second', start_ts, end_ts)) / 60, 1)), ' min in ', toString(count()),
    if(count() = 1, ' spell; ', ' spells; '), argMin(reason, start_ts)) AS finding
FROM counterflow.verdict_spell_within(since = {since:DateTime64(3)}, until = {until:DateTime64(3)})
WHERE state NOT IN ('OK', 'DEMAND_LIMITED', 'UNKNOWN', 'STALE')
  AND (empty({systems:Array(String)}) OR has({systems:Array(String)}, system))
GROUP BY system, rule, entity, state
