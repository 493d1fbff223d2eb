-- Is the I/O spread evenly over the disks? The busiest disk's transfers against the mean of all.
-- section: Disks
SELECT
  system,
  count() AS disks,
  argMax(disk, transfers) AS busiest_disk,
  round(100 * max(transfers) / nullIf(sum(transfers), 0), 1) AS its_share_pct,
  round(max(transfers) / nullIf(sum(transfers) / nullIf(count(), 0), 0), 2) AS times_the_mean
FROM (
  SELECT d.system AS system, d.disk AS disk, sum(d.transfers) AS transfers
  FROM counterflow.disk_load AS d
  WHERE d.leaf
    AND <chosen d>
  GROUP BY system, disk
  HAVING transfers IS NOT NULL
)
GROUP BY system
ORDER BY times_the_mean DESC NULLS LAST, system
LIMIT 50
