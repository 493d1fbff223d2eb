-- The processors of each system and kind, a row per interval.
SELECT
  toUnixTimestamp64Milli(ts) / 1000 AS end_s,
  interval_s AS seconds,
  system, ifNull(boot_id, '') AS recording, engine_type, busy_pct, user_pct, sys_pct, cpu_base, logical_engines, virtual_engines,
  physical_consumed_cores, physical_user_cores, physical_sys_cores, cpu_ms, configured_cpu_ms
FROM counterflow.system_cpu FINAL
WHERE engine = 'all' AND ts > {from:DateTime64(3)} AND ts <= {to:DateTime64(3)} AND has({systems:Array(String)}, system)
ORDER BY end_s
