-- Units of work between a sample and the one before it, however the source counts; closing summaries are left out.
CREATE VIEW IF NOT EXISTS counterflow.work_done {on_cluster} AS
SELECT
  w.ts AS ts,
  if(w.prev_ts IS NULL, w.interval_s, dateDiff('millisecond', w.prev_ts, w.ts) / 1000) AS interval_s,
  w.system AS system, w.workload AS workload, w.run_id AS run_id, w.unit_of_work AS unit_of_work,
  w.operation AS operation,
  if(w.prev_done IS NULL, w.done_delta, w.done - w.prev_done) AS units,
  w.users AS users, w.response_ms AS response_ms, w.response_max_ms AS response_max_ms,
  w.response_p50_ms AS response_p50_ms, w.response_p95_ms AS response_p95_ms, w.response_p99_ms AS response_p99_ms
FROM counterflow.workload AS w FINAL
WHERE NOT ifNull(w.final, false)
COMMENT 'Units of work that a workload did over one interval, with its response times; an empty operation is all together.';
