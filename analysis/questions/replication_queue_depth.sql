-- Where do messages pile up? The deepest and fullest each queue was, and how deep it is now.
-- section: Replication
SELECT
  r.system AS system,
  r.component AS component,
  r.program_schema AS program_schema,
  r.queue AS queue,
  max(r.queue_depth) AS queue_depth_max,
  argMax(r.ts, r.queue_depth) AS deepest_at,
  argMaxIf(r.queue_depth, r.ts, r.queue_depth IS NOT NULL) AS queue_depth_now,
  round(max(r.queue_full_pct), 1) AS queue_full_pct_max
FROM counterflow.replication_lag AS r
WHERE (r.queue_depth IS NOT NULL OR r.queue_full_pct IS NOT NULL)
  AND <chosen r>
GROUP BY system, component, program_schema, queue
ORDER BY queue_depth_max DESC NULLS LAST, system, component, program_schema, queue
LIMIT 40
