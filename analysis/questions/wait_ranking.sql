-- What do jobs wait for? Job names by the time they waited for something that holds work up; idle waits are in `other`.
-- section: Waits
SELECT
  system,
  name AS job,
  round(sum(held_up_s), 1) AS held_up_s,
  round(sum(dispatched_cpu_s), 1) AS dispatched_cpu_s,
  round(sum(cpu_queueing_s), 1) AS cpu_queueing_s,
  round(sum(disk_s), 1) AS disk_s,
  round(sum(journaling_s), 1) AS journaling_s,
  round(sum(operating_system_contention_s), 1) AS operating_system_contention_s,
  round(sum(lock_contention_s), 1) AS lock_contention_s,
  round(sum(ineligible_s), 1) AS ineligible_s,
  round(sum(other_s), 1) AS other_s
FROM counterflow.wait_by(grouping = 'job')
WHERE <chosen>
GROUP BY system, name
ORDER BY held_up_s DESC, system, job
LIMIT 20
