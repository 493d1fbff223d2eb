-- Which disks limit, reads against writes?
--
-- One row over the leaf disks of the system, where no I/O is counted twice through partitions, mappers, multipath or
-- groups. `n` counts every disk row of the interval, leaf or not, as the manifest does. The load of one disk follows
-- from its own row: the view `disk_load` of ClickHouse has both.
--
-- response   time of a transfer from its submission to its end, ms:
--              service + wait, where the system keeps them apart (AIX DISKSERV, DISKWAIT);
--              else the mean of read and write time, weighted (Linux: measured from submission, the queue is in it);
--              else backlog / transfers (Little's law: weighted milliseconds / completions).
-- ratio      data read / data written; KB of a transfer = data moved / transfers.
-- over all   totals are sums over the disks whose figure is known; ratios and means take numerator and denominator
--            over the same disks; response is weighted by transfers; busy is the busiest disk's, since the mean of
--            busy hides the limit.
--
-- Sources: nmon DISK*, DG*, njmon disks (schemas/datasets/disk.yaml); formulas: docs/kpis/disk-load.md.

CREATE TEMPORARY VIEW known AS
SELECT
  `system`, disk, ts, interval_s, leaf, `reads`, writes, read_kb, written_kb, busy_pct,
  service_ms, wait_ms, backlog_ms,
  COALESCE(transfers, `reads` + writes) AS transfers,
  CASE WHEN `reads` = 0 THEN 0 ELSE `reads` * read_service_ms END
    + CASE WHEN writes = 0 THEN 0 ELSE writes * write_service_ms END AS service_sum_ms
FROM distinct_disk;

CREATE TEMPORARY VIEW figures AS
SELECT
  `system`, disk, ts, interval_s, leaf, transfers, `reads`, writes, read_kb, written_kb, busy_pct,
  CASE
    WHEN transfers = 0 THEN NULL
    WHEN service_ms IS NOT NULL THEN service_ms + wait_ms
    ELSE COALESCE(
      service_sum_ms / NULLIF(`reads` + writes, 0) + COALESCE(wait_ms, 0),
      backlog_ms / transfers
    )
  END AS response_ms
FROM known;

INSERT INTO disk_total (
  ts, interval_s, `system`, n,
  transfers_per_s, reads_per_s, writes_per_s, read_mb, written_mb, rw_ratio, kb_per_transfer, response_ms, busy_pct
)
SELECT
  ts, MAX(interval_s), `system`, COUNT(*),
  SUM(transfers) FILTER (WHERE leaf) / NULLIF(MAX(interval_s), 0),
  SUM(`reads`) FILTER (WHERE leaf) / NULLIF(MAX(interval_s), 0),
  SUM(writes) FILTER (WHERE leaf) / NULLIF(MAX(interval_s), 0),
  SUM(read_kb) FILTER (WHERE leaf) / 1024,
  SUM(written_kb) FILTER (WHERE leaf) / 1024,
  SUM(read_kb) FILTER (WHERE leaf AND written_kb IS NOT NULL)
    / NULLIF(SUM(written_kb) FILTER (WHERE leaf AND read_kb IS NOT NULL), 0),
  SUM(read_kb + written_kb) FILTER (WHERE leaf AND transfers IS NOT NULL)
    / NULLIF(SUM(transfers) FILTER (WHERE leaf AND read_kb + written_kb IS NOT NULL), 0),
  SUM(response_ms * transfers) FILTER (WHERE leaf)
    / NULLIF(SUM(transfers) FILTER (WHERE leaf AND response_ms IS NOT NULL), 0),
  MAX(busy_pct) FILTER (WHERE leaf)
FROM figures
GROUP BY `system`, ts;
