-- What the rules say, a row a spell of a state within the range; trouble first, the longest first.
SELECT
  rule, system, entity, state,
  concat(rule, ' / ', system, ' / ', entity_type, ' / ', entity) AS thing,
  state NOT IN ('OK', 'DEMAND_LIMITED', 'UNKNOWN', 'STALE') AS trouble,
  formatDateTime(min(ts) - toIntervalSecond(toUInt32(coalesce(argMin(interval_s, ts), 0))), '%Y-%m-%d %H:%i', 'UTC') AS begin,
  formatDateTime(max(ts), '%Y-%m-%d %H:%i', 'UTC') AS end,
  count() AS intervals,
  argMax(reason, ts) AS reason,
  argMax(evidence, ts) AS evidence
FROM counterflow.verdict FINAL
WHERE $__timeFilter(ts) AND system IN (${system:singlequote})
GROUP BY rule, system, entity_type, entity, state, since
ORDER BY trouble DESC, state IN ('CAPPED', 'CRITICAL') DESC, intervals DESC, begin, thing
LIMIT 1000
