-- Which disk answered slowest?
-- rule: to watch where its transfers took at least <disk_response_ms.watch> ms on average, a second in all at least
SELECT
  system,
  'watch' AS severity,
  argMin(d.ts, (-response_ms, d.ts)) AS at,
  concat('slowest disk ', disk, ': ', toString(round(sum(transfer_ms) AS waited
    / sum(timed_transfers), 1)), ' ms a transfer on average, ', toString(round(max(response_ms), 1)), ' ms at most') AS finding
FROM counterflow.disk_load AS d
WHERE leaf AND timed_transfers > 0
  AND <chosen>
GROUP BY system, disk
HAVING waited / sum(timed_transfers) >= <disk_response_ms.watch> AND waited >= 1000
ORDER BY waited / sum(timed_transfers) DESC, disk
LIMIT 1 BY system
