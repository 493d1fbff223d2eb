-- What did the storage have to carry at its peak? The interval with most MB/s of each system: what a new storage must do as well.
-- section: Disks
SELECT
  system,
  argMax(ts, mb_s) AS peak_interval_end,
  round(max(mb_s), 1) AS mb_s_max,
  round(argMax(read_mb_s, mb_s), 1) AS read_mb_s_then,
  round(argMax(written_mb_s, mb_s), 1) AS written_mb_s_then,
  round(max(transfers_per_s), 1) AS transfers_per_s_max,
  round(sum(mb_s * interval_s) / nullIf(sumIf(interval_s, mb_s IS NOT NULL), 0), 1) AS mb_s_avg
FROM (
  SELECT
    system, ts, interval_s, transfers_per_s,
    read_mb / nullIf(interval_s, 0) AS read_mb_s,
    written_mb / nullIf(interval_s, 0) AS written_mb_s,
    read_mb_s + written_mb_s AS mb_s
  FROM counterflow.disk_total
  WHERE <chosen>
)
GROUP BY system
ORDER BY mb_s_max DESC NULLS LAST, system
LIMIT 50
