-- disk_response_ms: Mean response of a disk operation, service and wait, ms; `disk.service_ms`, `disk.wait_ms`.
-- reads_per_s: Reads a second in the interval of most operations; `disk.reads`.
-- writes_per_s: Writes a second in it; `disk.writes`.
-- kb_per_read: Mean size of a read in it, KB; `disk.read_kb`, else `disk.kb_per_read`; 0 without reads.
-- kb_per_write: Mean size of a write in it, KB; `disk.written_kb`, else `disk.kb_per_write`; 0 without writes.
WITH intervals AS (
  SELECT
    system,
    ts,
    sum((service_ms + wait_ms) * ifNull(transfers, reads + writes)) AS waited_ms,
    sumIf(ifNull(transfers, reads + writes), service_ms + wait_ms IS NOT NULL) AS timed,
    sum(reads / nullIf(interval_s, 0)) AS reads_s,
    sum(writes / nullIf(interval_s, 0)) AS writes_s,
    if(sum(reads) = 0, 0, sum(ifNull(read_kb, reads * kb_per_read)) / sum(reads)) AS read_size_kb,
    if(sum(writes) = 0, 0, sum(ifNull(written_kb, writes * kb_per_write)) / sum(writes)) AS write_size_kb
  FROM counterflow.disk FINAL
  WHERE leaf AND source IN ('ibmi_tables', 'wrkdsksts') AND ts >= {from:DateTime64(3)} AND ts < {to:DateTime64(3)}
    AND (empty({systems:Array(String)}) OR has({systems:Array(String)}, system))
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
