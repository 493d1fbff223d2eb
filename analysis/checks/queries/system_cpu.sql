-- cpu_busy_pct: CPU used of that configured over the time, %; `system_cpu.busy_pct`.
-- cpu_busy_max_pct: The same in the busiest interval, %; `system_cpu.busy_pct`.
-- processors: Processors configured, the most in the time; `system_cpu.configured_cpu_ms` / `interval_s`.
SELECT
  system,
  sum(busy_pct * interval_s) / nullIf(sumIf(interval_s, busy_pct IS NOT NULL), 0) AS cpu_busy_pct,
  max(busy_pct) AS cpu_busy_max_pct,
  max(configured_cpu_ms / nullIf(interval_s, 0) / 1000) AS processors
FROM counterflow.system_cpu FINAL
WHERE engine = 'all' AND source = 'ibmi_tables' AND <chosen>
GROUP BY system
