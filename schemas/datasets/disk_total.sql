-- Totals are sums over the disks whose figure is known; ratios take numerator and denominator over the same disks.
SELECT
  ts, max(d.interval_s) AS interval_s, system,
  sum(d.transfers) AS transfers,
  transfers / nullIf(interval_s, 0) AS transfers_per_s,
  sum(d.reads) AS reads,
  reads / nullIf(interval_s, 0) AS reads_per_s,
  sum(d.writes) AS writes,
  writes / nullIf(interval_s, 0) AS writes_per_s,
  sum(d.read_mb) AS read_mb,
  sum(d.written_mb) AS written_mb,
  sumIf(d.read_mb, isNotNull(d.written_mb)) / nullIf(sumIf(d.written_mb, isNotNull(d.read_mb)), 0) AS rw_ratio,
  1024 * sumIf(d.read_mb + d.written_mb, isNotNull(d.transfers))
    / nullIf(sumIf(d.transfers, isNotNull(d.read_mb + d.written_mb)), 0) AS kb_per_transfer,
  transfer_ms / nullIf(timed_transfers, 0) AS response_ms,
  sum(d.transfer_ms) AS transfer_ms,
  sum(d.timed_transfers) AS timed_transfers,
  max(d.busy_pct) AS busy_pct
FROM counterflow.disk_load AS d
WHERE leaf
GROUP BY system, ts
