-- What would the disk I/O take if it were virtual? Processors of 2.2 GHz POWER5 for virtual SCSI, CPW for iSCSI, at the peak.
-- section: Disks
SELECT
  system,
  round(max(processors), 2) AS virtual_scsi_processors,
  argMax(ts, processors) AS at,
  round(max(hardware_cpw)) AS iscsi_hardware_target_cpw,
  round(max(software_cpw)) AS iscsi_software_target_cpw,
  max(unknown) AS disks_without_figure
FROM (
  SELECT
    v.system AS system,
    v.ts AS ts,
    sum(v.virtual_scsi_processors) AS processors,
    sum(v.iscsi_hardware_target_cpw) AS hardware_cpw,
    sum(v.iscsi_software_target_cpw) AS software_cpw,
    countIf(v.virtual_scsi_processors IS NULL) AS unknown
  FROM counterflow.virtual_io AS v
  WHERE <chosen v>
  GROUP BY system, ts
)
GROUP BY system
ORDER BY virtual_scsi_processors DESC, system
LIMIT 20
