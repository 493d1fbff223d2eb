-- Where do jobs wait for a processor rather than run? Time queued for each second of running, with the worst interval.
-- section: Waits
SELECT
  system,
  round(sum(w.dispatched_cpu_s), 1) AS dispatched_cpu_s,
  round(sum(w.cpu_queueing_s), 1) AS cpu_queueing_s,
  round(sum(w.cpu_queueing_s) / nullIf(sum(w.dispatched_cpu_s), 0), 3) AS queued_s_per_running_s,
  round(max(w.cpu_queueing_s / nullIf(w.dispatched_cpu_s, 0)), 3) AS queued_s_per_running_s_max
FROM counterflow.wait_signature AS w
WHERE task = '*' AND <chosen>
GROUP BY system
ORDER BY queued_s_per_running_s DESC NULLS LAST, system
LIMIT 50
