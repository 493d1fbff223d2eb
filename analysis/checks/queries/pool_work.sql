-- interactive: Interactive jobs completed transactions in the pool; `pool_faulting.transactions_per_s`.
-- transactions_per_s: Their transactions a second, mean; `pool_faulting.transactions_per_s`.
-- response_s: Their mean response, s; `pool_faulting.response_s`.
-- batch: Batch jobs used CPU in the pool; `pool_faulting.batch_jobs`.
-- batch_jobs: Batch jobs that used CPU, mean of the intervals; `pool_faulting.batch_jobs`.
-- batch_cpu_pct: Share of the time that one batch job in the pool was at a processor, on average, %; `pool_faulting.batch_cpu_pct`.
SELECT
  system,
  pool AS subject,
  CAST(if(max(has_jobs), ifNull(sum(p.transactions_per_s * p.interval_s), 0) > 0, NULL) AS Nullable(Bool)) AS interactive,
  sum(p.transactions_per_s * p.interval_s) / nullIf(sumIf(p.interval_s, has_jobs), 0) AS transactions_per_s,
  sum(p.response_s * p.transactions_per_s * p.interval_s)
    / nullIf(sumIf(p.transactions_per_s * p.interval_s, p.response_s IS NOT NULL), 0) AS response_s,
  CAST(batch_jobs > 0 AS Nullable(Bool)) AS batch,
  avgOrNullIf(ifNull(p.batch_jobs, 0), has_jobs) AS batch_jobs,
  sum(p.batch_cpu_pct * p.batch_jobs * p.interval_s)
    / nullIf(sumIf(p.batch_jobs * p.interval_s, p.batch_cpu_pct IS NOT NULL), 0) AS batch_cpu_pct
FROM (
  SELECT
    *,
    (system, ts) IN (
      SELECT system, ts FROM counterflow.job
      WHERE source = 'ibmi_tables' AND <chosen>
    ) AS has_jobs
  FROM counterflow.pool_faulting
  WHERE <chosen>
) AS p
GROUP BY system, pool
