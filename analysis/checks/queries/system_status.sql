-- jobs_in_system: Jobs in the system when they were most: queued, active and ended with output; `counter` SYSTEM_STATUS, TOTAL_JOBS_IN_SYSTEM.
-- jobs_allowed: Jobs that are allowed then; `counter` SYSTEM_STATUS, MAXIMUM_JOBS_IN_SYSTEM.
-- active_jobs: Active jobs then; `counter` SYSTEM_STATUS, ACTIVE_JOBS_IN_SYSTEM.
SELECT
  system,
  max(jobs) AS jobs_in_system,
  argMax(tuple(allowed), jobs).1 AS jobs_allowed,
  argMax(tuple(active), jobs).1 AS active_jobs
FROM (
  SELECT
    system,
    ts,
    maxIf(c.value, counter = 'TOTAL_JOBS_IN_SYSTEM') AS jobs,
    nullIf(maxIf(c.value, counter = 'MAXIMUM_JOBS_IN_SYSTEM'), 0) AS allowed,
    if(countIf(counter = 'ACTIVE_JOBS_IN_SYSTEM') = 0, NULL, maxIf(c.value, counter = 'ACTIVE_JOBS_IN_SYSTEM')) AS active
  FROM counterflow.counter AS c FINAL
  WHERE section = 'SYSTEM_STATUS' AND ts > {since:DateTime64(3)} AND ts <= {until:DateTime64(3)}
    AND counter IN ('TOTAL_JOBS_IN_SYSTEM', 'MAXIMUM_JOBS_IN_SYSTEM', 'ACTIVE_JOBS_IN_SYSTEM')
    AND (empty({systems:Array(String)}) OR has({systems:Array(String)}, system))
  GROUP BY system, ts
  HAVING jobs > 0
)
GROUP BY system
