-- interactive: Interactive jobs completed transactions in the pool; `job.job_type` I, `job.transactions`.
-- transactions_per_s: Their transactions a second, mean; `job.transactions`.
-- response_s: Their mean response, s; `job.response_s` / `job.transactions`.
-- batch: Batch jobs used CPU in the pool; `job.job_type` is neither I nor V, a task of SLIC.
-- batch_jobs: Batch jobs that used CPU, mean of the intervals; rows of `job`.
-- batch_cpu_pct: Share of the time that one batch job in the pool was at a processor, on average, %; `job.cpu_ms`.
WITH intervals AS (
  SELECT
    system,
    ts,
    trimLeft(assumeNotNull(job_pool), '0 ') AS subject,
    max(interval_s) AS seconds,
    sumIf(transactions, job_type = 'I') AS interactive_transactions,
    sumIf(response_s, job_type = 'I') AS interactive_response_s,
    uniqExactIf((job_number, job_user, job_name), job_type NOT IN ('I', 'V')) AS jobs,
    sumIf(cpu_ms, job_type NOT IN ('I', 'V')) AS batch_cpu_ms
  FROM counterflow.job FINAL
  WHERE source = 'ibmi_tables' AND job_pool IS NOT NULL AND ts >= {from:DateTime64(3)} AND ts < {to:DateTime64(3)}
    AND (empty({systems:Array(String)}) OR has({systems:Array(String)}, system))
  GROUP BY system, ts, subject
),
recorded AS (
  SELECT system, sum(seconds) AS seconds, count() AS intervals_recorded
  FROM (SELECT system, ts, max(seconds) AS seconds FROM intervals GROUP BY system, ts)
  GROUP BY system
)
SELECT
  i.system AS system,
  i.subject AS subject,
  CAST(ifNull(sum(i.interactive_transactions), 0) > 0 AS Bool) AS interactive,
  sum(i.interactive_transactions) / nullIf(any(r.seconds), 0) AS transactions_per_s,
  sum(i.interactive_response_s) / nullIf(sum(i.interactive_transactions), 0) AS response_s,
  CAST(sum(i.jobs) > 0 AS Bool) AS batch,
  sum(i.jobs) / any(r.intervals_recorded) AS batch_jobs,
  sum(i.batch_cpu_ms) / 10 / nullIf(any(r.seconds) * batch_jobs, 0) AS batch_cpu_pct
FROM intervals AS i
INNER JOIN recorded AS r ON r.system = i.system
GROUP BY i.system, i.subject
