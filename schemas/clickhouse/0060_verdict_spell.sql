-- How long each thing was in which state without a break: what a timeline and the notes over a chart show.
CREATE OR REPLACE VIEW counterflow.verdict_spell {on_cluster} AS
SELECT
  rule, system, entity_type, entity, state,
  min(ts) - toIntervalMillisecond(toUInt64(1000 * coalesce(argMin(interval_s, ts), 0))) AS start_ts,
  max(ts) AS end_ts,
  count() AS intervals,
  countIf(stale) AS stale_intervals,
  argMin(reason, ts) AS reason,
  argMin(evidence, ts) AS evidence
FROM counterflow.verdict FINAL
GROUP BY rule, system, entity_type, entity, state, since
COMMENT 'Spells of a state: from the beginning of its first interval to the end of its last; reason and evidence of the first.';
