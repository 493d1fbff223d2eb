-- Processors that the I/O of a disk would take if it were virtual. Power Systems Performance Capabilities Reference:
-- virtual SCSI   6.6.1: transactions/s x time of one / 1,000,000. The table calls the times milliseconds; the divisor and
--                its example (10,000 reads/s of 16 KB take .34 processors) make them microseconds. Between two sizes the
--                time is interpolated; below 4 KB it is that of 4 KB; above 256 KB the table ends and it is null.
-- iSCSI          17.6: CPW for 1,000 operations/s, 230 with a hardware target, 275 with a software target.
CREATE VIEW IF NOT EXISTS counterflow.virtual_io {on_cluster} AS
WITH
  [4., 8, 16, 32, 64, 128, 256] AS sizes,
  [[16., 22, 34, 57, 92, 163, 314], [21., 26, 36, 54, 82, 148, 282]] AS read_and_write_us,
  arrayMap(kb -> if(kb > 256, NULL, greatest(kb, 4.)), [kb_per_read, kb_per_write]) AS in_table,
  arrayMap(kb -> greatest(arrayFirstIndex(size -> size >= kb, sizes), 2), in_table) AS above,
  arrayMap(
    (kb, i, us) -> us[i - 1] + (us[i] - us[i - 1]) * (kb - sizes[i - 1]) / (sizes[i] - sizes[i - 1]),
    in_table, above, read_and_write_us
  ) AS microseconds
SELECT
  ts, interval_s, system, disk, reads_per_s, writes_per_s,
  1024 * read_mb / nullIf(reads_per_s * interval_s, 0) AS kb_per_read,
  1024 * written_mb / nullIf(writes_per_s * interval_s, 0) AS kb_per_write,
  microseconds[1] AS read_us,
  microseconds[2] AS write_us,
  if(reads_per_s = 0, 0, reads_per_s * read_us / 1e6) + if(writes_per_s = 0, 0, writes_per_s * write_us / 1e6)
    AS virtual_scsi_processors,
  transfers_per_s * 230 / 1000 AS iscsi_hardware_target_cpw,
  transfers_per_s * 275 / 1000 AS iscsi_software_target_cpw
FROM counterflow.disk_load FINAL
WHERE leaf AND disk != '*'
COMMENT 'What the I/O of a leaf disk over one interval would take of a virtual SCSI server (processors of 2.2 GHz POWER5) or of an iSCSI host (CPW).';
