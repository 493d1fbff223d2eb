-- Which disk was busiest, and how long did its transfers take?
-- rule: a limit where it was at least <disk_busy_pct.limit> % busy on average, to watch where it ever was more than <disk_busy_pct.watch> % busy, or a transfer took <disk_response_ms.watch> ms on average
SELECT
  system,
  multiIf(mean_busy >= <disk_busy_pct.limit>, 'limit', most > <disk_busy_pct.watch> OR response >= <disk_response_ms.watch>, 'watch', 'note') AS severity,
  busiest_at AS at,
  concat('busiest disk ', disk, ': ', toString(round(mean_busy, 1)), ' % on average, ', toString(round(most, 1)), ' % at most',
    if(isNull(response), '', concat('; ', toString(round(assumeNotNull(response), 2)), ' ms a transfer'))) AS finding
FROM
(
  SELECT
    system, disk, sum(busy_pct * interval_s) / sum(interval_s) AS mean_busy, max(busy_pct) AS most,
    argMin(d.ts, (-busy_pct, d.ts)) AS busiest_at,
    sum(transfer_ms) / nullIf(sum(timed_transfers), 0) AS response
  FROM counterflow.disk_load AS d
  WHERE leaf AND busy_pct IS NOT NULL AND interval_s > 0
    AND <chosen>
  GROUP BY system, disk
)
ORDER BY mean_busy DESC, disk
LIMIT 1 BY system
