-- What do jobs wait for? Job names by the time they waited for something that holds work up; idle waits are in `other`.
-- section: Waits
SELECT
  system,
  name AS job,
  round(sumIf(seconds, wait_group NOT IN ('dispatched_cpu', 'other')), 1) AS held_up_s,
  round(sumIf(seconds, wait_group = 'dispatched_cpu'), 1) AS dispatched_cpu_s,
  round(sumIf(seconds, wait_group = 'cpu_queueing'), 1) AS cpu_queueing_s,
  round(sumIf(seconds, wait_group = 'disk'), 1) AS disk_s,
  round(sumIf(seconds, wait_group = 'journaling'), 1) AS journaling_s,
  round(sumIf(seconds, wait_group = 'operating_system_contention'), 1) AS operating_system_contention_s,
  round(sumIf(seconds, wait_group = 'lock_contention'), 1) AS lock_contention_s,
  round(sumIf(seconds, wait_group = 'ineligible'), 1) AS ineligible_s,
  round(sumIf(seconds, wait_group = 'other'), 1) AS other_s
FROM counterflow.wait_profile
WHERE grouping = 'job' AND <chosen>
GROUP BY system, name
ORDER BY held_up_s DESC, system, job
LIMIT 20
