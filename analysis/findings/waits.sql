-- What did jobs wait for most?
-- rule: to watch where jobs waited longer for it than they ran
SELECT
  system,
  if(held > ran, 'watch', 'note') AS severity,
  worst_at AS at,
  concat('jobs waited ', toString(round(held, 1)), ' s for ', replaceAll(wait_group, '_', ' '), ', and ran ',
    toString(round(ran, 1)), ' s') AS finding
FROM
(
  SELECT
    system, wait_group, sum(seconds) AS held, argMin(ts, (-seconds, ts)) AS worst_at,
    sum(sumIf(seconds, wait_group = 'dispatched_cpu')) OVER (PARTITION BY system) AS ran
  FROM counterflow.wait_profile
  WHERE grouping = 'job' AND <chosen>
  GROUP BY system, wait_group
)
WHERE wait_group NOT IN ('dispatched_cpu', 'other')
ORDER BY held DESC, wait_group
LIMIT 1 BY system
