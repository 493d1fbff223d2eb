-- The results of disk_load, from the definitions in schemas/datasets/disk_total.yaml and docs/kpis/disk-load.md.
WITH
  each AS
  (
    SELECT
      system, disk, ts, interval_s, leaf, reads, writes, read_kb, written_kb, busy_pct, landed_at,
      ifNull(transfers, reads + writes) AS moved,
      if(reads = 0, 0, reads * read_service_ms) + if(writes = 0, 0, writes * write_service_ms) AS served_ms,
      multiIf(
        moved = 0, NULL,
        isNotNull(service_ms), service_ms + wait_ms,
        isNotNull(served_ms / nullIf(reads + writes, 0)), served_ms / (reads + writes) + ifNull(wait_ms, 0),
        backlog_ms / moved
      ) AS response
    FROM counterflow.disk FINAL
    WHERE ts >= {from:DateTime64(3, 'UTC')} AND ts < {to:DateTime64(3, 'UTC')}
  )
SELECT
  system, ts, count() AS n, max(each.landed_at) AS landed_at, max(each.interval_s) AS interval_s,
  sumIf(moved, leaf) / nullIf(max(each.interval_s), 0) AS transfers_per_s,
  sumIf(reads, leaf) / nullIf(max(each.interval_s), 0) AS reads_per_s,
  sumIf(writes, leaf) / nullIf(max(each.interval_s), 0) AS writes_per_s,
  sumIf(read_kb, leaf) / 1024 AS read_mb,
  sumIf(written_kb, leaf) / 1024 AS written_mb,
  sumIf(read_kb, leaf AND isNotNull(written_kb)) / nullIf(sumIf(written_kb, leaf AND isNotNull(read_kb)), 0) AS rw_ratio,
  sumIf(read_kb + written_kb, leaf AND isNotNull(moved))
    / nullIf(sumIf(moved, leaf AND isNotNull(read_kb + written_kb)), 0) AS kb_per_transfer,
  sumIf(response * moved, leaf) / nullIf(sumIf(moved, leaf AND isNotNull(response)), 0) AS response_ms,
  maxIf(each.busy_pct, leaf) AS busy_pct
FROM each
GROUP BY system, ts
