-- What was refused anywhere, and why? Dead letters by stage and reason, with one of the errors.
-- section: Data and pipeline
SELECT
  d.stage AS stage,
  d.reason AS reason,
  d.system AS system,
  count() AS times,
  sum(d.payload_bytes) AS payload_bytes_total,
  min(d.ts) AS first_ts,
  max(d.ts) AS last_ts,
  any(d.origin) AS example_origin,
  any(d.error) AS example_error
FROM counterflow.deadletter AS d FINAL
WHERE <chosen d>
GROUP BY stage, reason, system
ORDER BY times DESC, stage, reason, system
LIMIT 50
