-- Which file systems are filling up?
-- rule: a limit from <file_system_used_pct.limit> % of the space or the inodes in use, to watch from <file_system_used_pct.watch> %; images of snaps and of CDs, always full, left out
SELECT
  system,
  if(max(value) >= <file_system_used_pct.limit>, 'limit', 'watch') AS severity,
  argMin(ts, (-value, ts)) AS at,
  concat('file system ', file_system, ' ', toString(round(max(value), 1)), ' % full', of) AS finding
FROM counterflow.file_system_use
ARRAY JOIN [used_pct, inodes_used_pct] AS value, ['', ' of inodes'] AS of
WHERE value IS NOT NULL AND <chosen>
GROUP BY system, of, file_system
HAVING max(value) >= <file_system_used_pct.watch>
