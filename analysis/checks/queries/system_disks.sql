-- disk_response_ms: Mean response of a disk operation, service and wait, ms; `disk_load.transfer_ms` / `disk_load.timed_transfers`.
-- virtual_scsi_processors: Processors of 2.2 GHz POWER5 that the disk operations take as virtual ones, in the interval of most operations; `virtual_io.virtual_scsi_processors`; not known where operations of a disk are larger than 256 KB on average, or of unknown size.
SELECT
  system,
  sum(waited_ms) / nullIf(sum(timed), 0) AS disk_response_ms,
  argMax(tuple(processors), operations).1 AS virtual_scsi_processors
FROM (
  SELECT system, ts, sum(transfer_ms) AS waited_ms, sum(timed_transfers) AS timed
  FROM counterflow.disk_load
  WHERE leaf AND source IN ('ibmi_tables', 'wrkdsksts') AND <chosen>
  GROUP BY system, ts
) AS measured
LEFT JOIN (
  SELECT
    system, ts, sum(reads_per_s + writes_per_s) AS operations,
    if(countIf(virtual_scsi_processors IS NULL AND reads_per_s + writes_per_s > 0) > 0, NULL, sum(virtual_scsi_processors)) AS processors
  FROM counterflow.virtual_io
  WHERE <chosen>
  GROUP BY system, ts
) AS virtual USING (system, ts)
GROUP BY system
