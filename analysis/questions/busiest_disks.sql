-- Which disks limit, reads against writes?
-- section: Disks
SELECT
  d.system AS system,
  d.disk AS disk,
  round(sum(d.busy_pct * d.interval_s) / nullIf(sumIf(d.interval_s, d.busy_pct IS NOT NULL), 0), 1) AS busy_pct,
  max(d.busy_pct) AS max_pct,
  round(sum(d.transfer_ms) / nullIf(sum(d.timed_transfers), 0), 2) AS response_ms,
  round(sum(d.transfers_per_s * d.interval_s) / nullIf(sumIf(d.interval_s, d.transfers_per_s IS NOT NULL), 0), 1) AS per_s,
  round(sum(d.read_mb), 1) AS read_mb,
  round(sum(d.written_mb), 1) AS written_mb,
  round(sumIf(d.read_mb, d.written_mb IS NOT NULL) / nullIf(sumIf(d.written_mb, d.read_mb IS NOT NULL), 0), 2) AS rw_ratio
FROM counterflow.disk_load AS d
WHERE d.leaf AND <chosen d>
GROUP BY d.system, d.disk
ORDER BY busy_pct DESC, system, disk
LIMIT 10
