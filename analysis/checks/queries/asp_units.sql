-- disks: Units of the pool, one with several paths counted once; `disk.disk`, `disk.unit`.
-- multipath: A unit of the pool has several paths; `disk.device_type`.
-- fewest_paths: Paths of the multipath unit that has fewest; rows of `disk` by `disk.unit`.
-- fewest_paths_unit: That unit; `disk.unit`.
-- uneven_units: Units some of whose paths carried operations, neither half of them nor all; `disk.transfers`.
-- smallest_disk_mb: Capacity of the smallest unit, MB; `disk.capacity_mb`.
-- largest_disk_mb: Capacity of the largest unit, MB; `disk.capacity_mb`.
/* Both halves of a mirrored pair have one unit number: only a unit that Collection Services or SYSDISKSTAT calls a
multipath unit is one disk with several rows. A row that is no leaf repeats another, so the use of its path is unknown.
QAPMDISK writes 0038 where SYSDISKSTAT writes 38. WRKDSKSTS names the same units otherwise, so it counts only where it
is alone. */
WITH rows_of_disks AS (
  SELECT
    system,
    assumeNotNull(asp) AS asp,
    ifNull(nullIf(trimLeft(any(d.unit), '0 '), ''), disk) AS unit,
    disk,
    max(device_type = 'path' AND source = 'ibmi_tables') AS is_path,
    min(leaf) AS counts,
    sum(transfers) AS moved,
    argMax(capacity_mb, ts) AS size_mb,
    min(source) AS of_source,
    min(of_source) OVER (PARTITION BY system, asp) AS chosen
  FROM counterflow.disk AS d FINAL
  WHERE asp IS NOT NULL AND asp != '0' AND source IN ('ibmi_tables', 'wrkdsksts')
    AND <chosen>
  GROUP BY system, asp, disk
),
units AS (
  SELECT
    system,
    asp,
    unit,
    max(is_path) AS several,
    count() AS paths,
    if(several, 1, countIf(counts)) AS devices,
    several AND min(counts) AND countIf(moved IS NULL) = 0 AND sum(moved) > 0 AS judged,
    countIf(moved > 0) AS used,
    min(size_mb) AS least_mb,
    max(size_mb) AS most_mb
  FROM rows_of_disks
  WHERE of_source = chosen
  GROUP BY system, asp, unit
)
SELECT
  system,
  asp AS subject,
  toFloat64(sum(devices)) AS disks,
  CAST(max(several) AS Bool) AS multipath,
  if(multipath, toFloat64(minIf(paths, several)), NULL) AS fewest_paths,
  argMinIf(unit, (paths, unit), several) AS fewest_paths_unit,
  if(countIf(judged) = 0, NULL, toFloat64(countIf(judged AND used != paths AND 2 * used != paths))) AS uneven_units,
  min(least_mb) AS smallest_disk_mb,
  max(most_mb) AS largest_disk_mb
FROM units
GROUP BY system, asp
