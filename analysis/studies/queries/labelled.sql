-- The intervals whose records carry the label of a run. The label is no key: it is first searched without FINAL, so that
-- only the days of the run are read with FINAL.
WITH
  (
    SELECT (min(ts), max(ts))
    FROM
    (
      SELECT ts FROM counterflow.manifest WHERE run = {run:String}
      UNION ALL
      SELECT ts FROM counterflow.system_cpu WHERE run = {run:String}
      UNION ALL
      SELECT ts FROM counterflow.workload WHERE run = {run:String}
      UNION ALL
      SELECT ts FROM counterflow.db_log WHERE run = {run:String}
      UNION ALL
      SELECT ts FROM counterflow.replication WHERE run = {run:String}
    )
  ) AS time
SELECT system, source, toUnixTimestamp64Milli(ts) / 1000 AS end_s, max(apart) AS seconds
FROM
(
  SELECT system, source, ts, interval_s AS apart
  FROM counterflow.manifest FINAL
  WHERE run = {run:String} AND ts BETWEEN time.1 AND time.2
  UNION ALL
  SELECT system, source, ts, interval_s AS apart
  FROM counterflow.system_cpu FINAL
  WHERE run = {run:String} AND ts BETWEEN time.1 AND time.2
  UNION ALL
  SELECT system, source, ts, ifNull(interval_s, dateDiff('millisecond', prev_ts, ts) / 1000) AS apart
  FROM counterflow.workload FINAL
  WHERE run = {run:String} AND ts BETWEEN time.1 AND time.2
  UNION ALL
  SELECT system, source, ts, interval_s AS apart
  FROM counterflow.db_log FINAL
  WHERE run = {run:String} AND ts BETWEEN time.1 AND time.2
  UNION ALL
  SELECT system, source, ts, interval_s AS apart
  FROM counterflow.replication FINAL
  WHERE run = {run:String} AND ts BETWEEN time.1 AND time.2
)
GROUP BY system, source, ts
ORDER BY ts
