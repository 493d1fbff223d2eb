-- Where do jobs wait for a processor rather than run? Time queued for each second of running, with the worst interval.
-- section: Waits
SELECT
  system,
  round(sum(running_s), 1) AS dispatched_cpu_s,
  round(sum(queued_s), 1) AS cpu_queueing_s,
  round(sum(queued_s) / nullIf(sum(running_s), 0), 3) AS queued_s_per_running_s,
  round(max(queued_s / nullIf(running_s, 0)), 3) AS queued_s_per_running_s_max
FROM (
  SELECT
    p.system AS system, p.ts AS ts,
    sumIf(p.seconds, p.wait_group = 'dispatched_cpu') AS running_s,
    sumIf(p.seconds, p.wait_group = 'cpu_queueing') AS queued_s
  FROM counterflow.wait_profile AS p
  WHERE p.grouping = 'system'
    AND <chosen p>
  GROUP BY system, ts
)
GROUP BY system
ORDER BY queued_s_per_running_s DESC NULLS LAST, system
LIMIT 50
