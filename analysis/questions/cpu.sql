-- How busy are the processors? Of those configured (IBM i), online (z/OS), entitled (shared AIX partitions) or present (Linux).
-- section: Processors
SELECT
  system,
  engine_type,
  round(sum(busy_pct * interval_s) / nullIf(sumIf(interval_s, busy_pct IS NOT NULL), 0), 1) AS cpu_pct_avg,
  round(max(busy_pct), 1) AS cpu_pct_max,
  round(sum(processors * interval_s) / nullIf(sumIf(interval_s, processors IS NOT NULL), 0), 2) AS processors_avg,
  round(max(processors), 2) AS processors_max,
  round(100 * sumIf(consumed_cores * interval_s, entitled_cores > 0)
    / nullIf(sumIf(entitled_cores * interval_s, consumed_cores IS NOT NULL), 0), 1) AS entitled_pct_avg
FROM counterflow.processor_load
WHERE <chosen>
GROUP BY system, engine_type
ORDER BY system, engine_type
