-- At which hour of the day (UTC) are the disks slow? Response time weighted by transfers, of all leaf disks of a system.
-- section: Disks
SELECT
  d.system AS system,
  toHour(d.ts - 1) AS hour,
  round(sum(d.transfers_per_s * d.interval_s) / nullIf(sumIf(d.interval_s, d.transfers_per_s IS NOT NULL), 0), 1) AS transfers_per_s_avg,
  round(max(d.transfers_per_s), 1) AS transfers_per_s_max,
  round(sum(d.transfer_ms) / nullIf(sum(d.timed_transfers), 0), 2) AS response_ms_avg,
  round(max(d.response_ms), 2) AS response_ms_max
FROM counterflow.disk_total AS d
WHERE <chosen d>
GROUP BY system, hour
ORDER BY system, hour
LIMIT 500
