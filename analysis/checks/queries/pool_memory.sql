-- machine_pool: The pool is the machine pool; `pool.pool_name`, else its number 1.
-- shared_pool: The pool is a shared one, whose name begins with `*`; `pool.pool_name`.
-- size_mb: Size when the reserved share was greatest, MB; `pool.size_mb`.
-- reserved_mb: Reserved size at that time, MB; `pool.reserved_mb`.
-- smallest_mb: Smallest size in the time, MB; `pool.size_mb`.
-- faults_per_s: Page faults a second, mean; `pool.faults`.
-- nondb_faults_per_s: Non-database page faults a second, mean; `pool.nondb_faults`.
-- active_to_ineligible_per_s: Transitions a second in the interval that had most; `pool.active_to_ineligible`.
SELECT
  system,
  trimLeft(pool, '0 ') AS subject,
  CAST(ifNull(any(pool_name) = '*MACHINE', subject = '1') AS Bool) AS machine_pool,
  CAST(startsWith(any(pool_name), '*') AS Nullable(Bool)) AS shared_pool,
  argMax(tuple(p.size_mb), p.reserved_mb / nullIf(p.size_mb, 0)).1 AS size_mb,
  argMax(tuple(p.reserved_mb), p.reserved_mb / nullIf(p.size_mb, 0)).1 AS reserved_mb,
  min(p.size_mb) AS smallest_mb,
  sum(faults) / nullIf(sumIf(interval_s, faults IS NOT NULL), 0) AS faults_per_s,
  sum(nondb_faults) / nullIf(sumIf(interval_s, nondb_faults IS NOT NULL), 0) AS nondb_faults_per_s,
  max(p.active_to_ineligible / nullIf(p.interval_s, 0)) AS active_to_ineligible_per_s
FROM counterflow.pool AS p FINAL
WHERE source = 'ibmi_tables' AND <chosen>
GROUP BY system, subject
