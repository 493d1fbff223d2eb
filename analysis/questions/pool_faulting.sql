-- Would memory help? Below 10 % of the time in page faults it helps little, from 25 % on it may; for pools with expert cache the figure means less.
-- section: Memory
SELECT
  system,
  pool,
  any(p.pool_name) AS pool_name,
  round(sum(p.faults_per_s * p.interval_s) / nullIf(sumIf(p.interval_s, p.faults_per_s IS NOT NULL), 0), 1) AS faults_per_s,
  round(100 * sumIf(p.fault_s * p.transactions_per_s * p.interval_s, p.interactive_fault_pct IS NOT NULL)
        / nullIf(sumIf(p.response_s * p.transactions_per_s * p.interval_s, p.interactive_fault_pct IS NOT NULL), 0), 1)
    AS interactive_fault_pct,
  round(max(p.interactive_fault_pct), 1) AS interactive_max_pct,
  round(100 * sumIf(p.batch_fault_pct * p.batch_jobs * p.interval_s, p.batch_cpu_pct IS NOT NULL)
        / nullIf(sum((p.batch_fault_pct + p.batch_cpu_pct) * p.batch_jobs * p.interval_s), 0), 1)
    AS batch_fault_to_work_pct,
  round(max(p.batch_fault_to_work_pct), 1) AS batch_max_pct,
  round(max(p.reserved_pct), 1) AS reserved_max_pct,
  sum(p.active_to_ineligible) AS became_ineligible
FROM (
  SELECT * FROM counterflow.pool_faulting
  WHERE <chosen>
) AS p
GROUP BY system, pool
ORDER BY greatest(coalesce(interactive_fault_pct, 0), coalesce(batch_fault_to_work_pct, 0)) DESC, system, pool
LIMIT 20
