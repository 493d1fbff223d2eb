-- Which file systems are filling up?
-- rule: a limit from <file_system_used_pct.limit> % of the space or the inodes in use, to watch from <file_system_used_pct.watch> %; images of snaps, always full, left out
SELECT
  system,
  if(max(value) >= <file_system_used_pct.limit>, 'limit', 'watch') AS severity,
  argMin(ts, (-value, ts)) AS at,
  concat('file system ', instance, ' ', toString(round(max(value), 1)), ' % full',
    if(of_inodes, ' of inodes', '')) AS finding
FROM
(
  SELECT system, ts, instance, section = 'JFSINODE' AS of_inodes, value
  FROM counterflow.counter FINAL
  WHERE (section IN ('JFSFILE', 'JFSINODE') OR section = 'filesystems' AND counter = 'fs_full_percent')
    AND <chosen>
  UNION ALL
  SELECT
    system, ts, instance, 1,
    100 * (1 - maxOrNullIf(value, counter = 'fs_files_free') / nullIf(maxOrNullIf(value, counter = 'fs_files'), 0))
  FROM counterflow.counter FINAL
  WHERE section = 'filesystems' AND counter IN ('fs_files', 'fs_files_free')
    AND <chosen>
  GROUP BY system, ts, instance
)
WHERE value IS NOT NULL
GROUP BY system, of_inodes, instance
HAVING max(value) >= <file_system_used_pct.watch> AND NOT (min(value) = 100 AND match(instance, '^(/snap/|/var/lib/snapd/|/dev/loop)'))
