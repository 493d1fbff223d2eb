-- The results of disk_load, from the definitions in schemas/datasets/disk_load.yaml and docs/kpis/disk-load.md.
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
  system, disk, ts, toUInt64(1) AS n, landed_at, interval_s, leaf,
  moved / nullIf(interval_s, 0) AS transfers_per_s,
  reads / nullIf(interval_s, 0) AS reads_per_s,
  writes / nullIf(interval_s, 0) AS writes_per_s,
  read_kb / 1024 AS read_mb,
  written_kb / 1024 AS written_mb,
  read_kb / nullIf(written_kb, 0) AS rw_ratio,
  (read_kb + written_kb) / nullIf(moved, 0) AS kb_per_transfer,
  response AS response_ms,
  busy_pct
FROM each
UNION ALL
SELECT
  system, '*', ts, count(), max(each.landed_at), max(each.interval_s), true,
  sumIf(moved, leaf) / nullIf(max(each.interval_s), 0),
  sumIf(reads, leaf) / nullIf(max(each.interval_s), 0),
  sumIf(writes, leaf) / nullIf(max(each.interval_s), 0),
  sumIf(read_kb, leaf) / 1024,
  sumIf(written_kb, leaf) / 1024,
  sumIf(read_kb, leaf AND isNotNull(written_kb)) / nullIf(sumIf(written_kb, leaf AND isNotNull(read_kb)), 0),
  sumIf(read_kb + written_kb, leaf AND isNotNull(moved))
    / nullIf(sumIf(moved, leaf AND isNotNull(read_kb + written_kb)), 0),
  sumIf(response * moved, leaf) / nullIf(sumIf(moved, leaf AND isNotNull(response)), 0),
  maxIf(each.busy_pct, leaf)
FROM each
GROUP BY system, ts
