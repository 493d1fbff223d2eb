-- disk_response_ms: Mean response of a disk operation, service and wait, ms; `disk_load.transfer_ms` / `disk_load.timed_transfers`.
-- reads_per_s: Reads a second in the interval of most operations; `disk_load.reads_per_s`.
-- writes_per_s: Writes a second in it; `disk_load.writes_per_s`.
-- kb_per_read: Mean size of a read in it, KB; `disk_load.read_mb` / `disk_load.reads`; 0 without reads.
-- kb_per_write: Mean size of a write in it, KB; `disk_load.written_mb` / `disk_load.writes`; 0 without writes.
WITH intervals AS (
  SELECT
    system,
    ts,
    sum(transfer_ms) AS waited_ms,
    sum(timed_transfers) AS timed,
    sum(reads_per_s) AS reads_s,
    sum(writes_per_s) AS writes_s,
    if(sum(reads) = 0, 0, 1024 * sum(read_mb) / sum(reads)) AS read_size_kb,
    if(sum(writes) = 0, 0, 1024 * sum(written_mb) / sum(writes)) AS write_size_kb
  FROM counterflow.disk_load
  WHERE leaf AND source IN ('ibmi_tables', 'wrkdsksts') AND <chosen>
  GROUP BY system, ts
)
SELECT
  system,
  sum(waited_ms) / nullIf(sum(timed), 0) AS disk_response_ms,
  argMax(reads_s, reads_s + writes_s) AS reads_per_s,
  argMax(writes_s, reads_s + writes_s) AS writes_per_s,
  argMax(tuple(read_size_kb), reads_s + writes_s).1 AS kb_per_read,
  argMax(tuple(write_size_kb), reads_s + writes_s).1 AS kb_per_write
FROM intervals
GROUP BY system
