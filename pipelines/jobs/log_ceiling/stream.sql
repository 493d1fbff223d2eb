-- Is Db2's active log at the ceiling of its path, or has the path fallen back from zHyperLink?
--
-- The rule judges the log of each subsystem (pipelines/rules/log_ceiling.py, README.md): `intervals`
-- are its input, `judged` are its verdicts. A verdict is written again where an interval that arrives late, or is
-- completed by its processors or its ceiling, changes it (pipelines/verdicts).
--
-- A row without rate, waits and a preceding sample is no interval: it states path or share for other rows (D SMS even
-- with a length of its own), or is the first of a log.

CREATE TEMPORARY VIEW intervals AS
SELECT
  `system`, 'log' AS entity_type, subsystem AS entity, CAST(ts AS STRING) AS ts, n, interval_s,
  path, rate_mb_s, ceiling_mb_s, waits_delta, waiting_threads, active_threads, log_write_ms,
  gcp_pct, ziip_pct, zhl_sync_pct, `reset`, CAST(ceiling_since AS STRING) AS ceiling_since
FROM log_load
WHERE rate_mb_s IS NOT NULL OR waits_delta IS NOT NULL OR `reset` IS NOT NULL;

INSERT INTO verdict (
  ts, interval_s, `system`, n, rule, entity_type, entity,
  state, `signal`, stale, reason, since, evidence, parameters
)
SELECT
  TO_TIMESTAMP_LTZ(ts_ms, 3), interval_s, `system`, n, 'log_ceiling', entity_type, entity,
  state, `signal`, stale, reason, TO_TIMESTAMP_LTZ(since_ms, 3), evidence, parameters
FROM judged;
