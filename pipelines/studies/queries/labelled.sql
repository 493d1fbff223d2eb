-- The intervals whose records carry the label of a run.
SELECT system, source, toUnixTimestamp64Milli(ts) / 1000 AS end_s, max(interval_s) AS seconds
FROM
(
  SELECT system, source, ts, interval_s FROM counterflow.manifest FINAL WHERE run = {run:String}
  UNION ALL
  SELECT system, source, ts, interval_s FROM counterflow.system_cpu FINAL WHERE run = {run:String}
  UNION ALL
  SELECT
    system, source, ts,
    ifNull(interval_s, dateDiff('millisecond', prev_ts, ts) / 1000) AS interval_s
  FROM counterflow.workload FINAL
  WHERE run = {run:String}
  UNION ALL
  SELECT system, source, ts, interval_s FROM counterflow.db_log FINAL WHERE run = {run:String}
  UNION ALL
  SELECT system, source, ts, interval_s FROM counterflow.replication FINAL WHERE run = {run:String}
)
GROUP BY system, source, ts
ORDER BY ts
