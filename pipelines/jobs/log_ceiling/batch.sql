-- The intervals that log_ceiling judges. A row without rate, waits and a preceding sample is no interval.
SELECT *, 'log' AS entity_type, subsystem AS entity
FROM counterflow.log_load FINAL
WHERE (rate_mb_s IS NOT NULL OR waits_delta IS NOT NULL OR reset IS NOT NULL)
  AND ts >= {from:DateTime64(3, 'UTC')} AND ts < {to:DateTime64(3, 'UTC')}
