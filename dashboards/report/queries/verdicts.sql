-- The judgements of the rules, a row per spell of a state within the range; trouble first, the longest first. `spells`
-- counts all of trouble, `calm` the things that were well all the time, `unjudged` those that could not be judged at a
-- time.
SELECT
  rule, system, entity, state,
  concat(rule, ' / ', system, ' / ', entity_type, ' / ', entity) AS thing,
  state NOT IN ('OK', 'DEMAND_LIMITED', 'UNKNOWN', 'STALE') AS trouble,
  formatDateTime(start_ts, '%Y-%m-%d %H:%i', 'UTC') AS begin,
  formatDateTime(end_ts, '%Y-%m-%d %H:%i', 'UTC') AS end,
  toUnixTimestamp64Milli(start_ts) AS begin_ms,
  toUnixTimestamp64Milli(end_ts) AS end_ms,
  intervals,
  reason,
  evidence,
  countIf(trouble) OVER () AS spells,
  uniqExact(thing) OVER () - uniqExactIf(thing, state NOT IN ('OK', 'DEMAND_LIMITED')) OVER () AS calm,
  uniqExactIf(thing, state IN ('UNKNOWN', 'STALE')) OVER () AS unjudged
FROM counterflow.verdict_spell_within(since = $__fromTime, until = $__toTime)
WHERE system IN (${system:singlequote})
ORDER BY trouble DESC, state IN ('CAPPED', 'CRITICAL') DESC, intervals DESC, begin, thing
LIMIT 100
