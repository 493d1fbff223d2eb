-- Where does the hypervisor make a system wait for processors? Steal of Linux as a share of time; ready, not dispatched of IBM i.
-- section: Processors
SELECT
  system,
  round(sum(steal_pct * interval_s) / nullIf(sumIf(interval_s, steal_pct IS NOT NULL), 0), 2) AS steal_pct_avg,
  round(max(steal_pct), 2) AS steal_pct_max,
  round(sum(wait_ready_ms) / 1000, 1) AS wait_ready_s,
  round(sum(dispatch_latency_ms) / 1000, 1) AS dispatch_latency_s,
  round(100 * sum(wait_ready_ms) / nullIf(sumIf(cpu_ms, wait_ready_ms IS NOT NULL), 0), 2) AS wait_ready_of_cpu_pct
FROM counterflow.system_cpu FINAL
WHERE engine = 'all' AND (steal_pct IS NOT NULL OR wait_ready_ms IS NOT NULL OR dispatch_latency_ms IS NOT NULL)
  AND <chosen>
GROUP BY system
ORDER BY steal_pct_avg DESC NULLS LAST, wait_ready_s DESC NULLS LAST, system
LIMIT 50
