-- Where the system keeps them apart, the response is service and wait (AIX DISKSERV, DISKWAIT); else it is the mean of
-- read and write time, weighted (Linux: measured from submission, so the queue is in it); else backlog / transfers, by
-- Little's law.
SELECT
  ts, interval_s, system, source, disk, device_type, asp, leaf,
  moved AS transfers,
  moved / nullIf(interval_s, 0) AS transfers_per_s,
  reads,
  reads / nullIf(interval_s, 0) AS reads_per_s,
  writes,
  writes / nullIf(interval_s, 0) AS writes_per_s,
  read_kb / 1024 AS read_mb,
  written_kb / 1024 AS written_mb,
  read_kb / nullIf(written_kb, 0) AS rw_ratio,
  (read_kb + written_kb) / nullIf(moved, 0) AS kb_per_transfer,
  service_ms, wait_ms,
  multiIf(
    moved = 0, NULL,
    isNotNull(service_ms), service_ms + wait_ms,
    isNotNull(served_ms / nullIf(reads + writes, 0)), served_ms / (reads + writes) + ifNull(wait_ms, 0),
    backlog_ms / moved
  ) AS response_ms,
  response_ms * moved AS transfer_ms,
  if(isNull(response_ms), NULL, moved) AS timed_transfers,
  busy_pct
FROM
(
  SELECT
    *,
    ifNull(transfers, reads + writes) AS moved,
    if(reads = 0, 0, reads * read_service_ms) + if(writes = 0, 0, writes * write_service_ms) AS served_ms
  FROM counterflow.disk FINAL
) AS rows_of_view
