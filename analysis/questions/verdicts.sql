-- What are the verdicts of the rules now, since when, and why?
-- section: Verdicts
SELECT
  rule,
  system,
  entity_type,
  entity,
  argMax(state, v.ts) AS state_now,
  toString(argMax(since, v.ts)) AS state_since,
  toString(max(v.ts)) AS judged_until,
  countIf(state != 'OK') AS intervals_not_ok,
  countIf(stale) AS intervals_stale,
  argMax(reason, v.ts) AS why
FROM counterflow.verdict AS v FINAL
WHERE <chosen v>
GROUP BY rule, system, entity_type, entity
ORDER BY state_now = 'OK', system, entity_type, entity
LIMIT 50
