-- The use of each command, a row per interval; where a command is absent, it used nothing.
SELECT
  toUnixTimestamp64Milli(ts) / 1000 AS end_s,
  interval_s AS seconds,
  system, command, cpu_ms, cpu_base, memory_mb
FROM counterflow.footprint
WHERE ts > {from:DateTime64(3)} AND ts <= {to:DateTime64(3)} AND has({systems:Array(String)}, system)
ORDER BY end_s
