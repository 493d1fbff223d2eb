-- In which intervals had a disk a response time above <disk_response_ms.watch> ms, and what ran then? The three commands with most CPU.
-- section: Disks
SELECT
  d.system AS system,
  d.ts AS interval_end,
  d.slow_disks AS slow_disks,
  d.worst_disk AS worst_disk,
  d.worst_response_ms AS worst_response_ms,
  d.transfers_per_s AS transfers_per_s_of_these,
  f.commands AS most_cpu
FROM (
  SELECT
    system, ts, count() AS slow_disks,
    argMax(disk, response_ms) AS worst_disk,
    round(max(response_ms), 1) AS worst_response_ms,
    round(sum(l.transfers_per_s), 1) AS transfers_per_s
  FROM counterflow.disk_load AS l
  WHERE leaf AND response_ms > <disk_response_ms.watch>
    AND <chosen>
  GROUP BY system, ts
) AS d
LEFT JOIN (
  SELECT
    system, ts,
    arrayMap(one -> one.2, arraySlice(arrayReverseSort(groupArray((cpu_cores, command))), 1, 3)) AS commands
  FROM counterflow.footprint
  WHERE cpu_cores IS NOT NULL
    AND <chosen>
  GROUP BY system, ts
) AS f ON f.system = d.system AND f.ts = d.ts
ORDER BY worst_response_ms DESC, system, interval_end
LIMIT 50
