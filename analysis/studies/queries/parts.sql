-- The use of Q Replication, MQ, Db2 and all else, a row per interval; where one is absent, it used nothing.
SELECT
  toUnixTimestamp64Milli(ts) / 1000 AS end_s,
  interval_s AS seconds,
  system, component AS command, cpu_ms, cpu_base, memory_mb
FROM counterflow.component_footprint
WHERE ts > {from:DateTime64(3)} AND ts <= {to:DateTime64(3)} AND has({systems:Array(String)}, system)
ORDER BY end_s
