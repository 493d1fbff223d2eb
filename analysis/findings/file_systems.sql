-- Which file systems are filling up?
-- rule: a limit from 95 % of the space or the inodes in use, to watch from 85 %
SELECT
  system,
  if(max(value) >= 95, 'limit', 'watch') AS severity,
  argMin(c.ts, (-value, c.ts)) AS at,
  concat('file system ', instance, ' ', toString(round(max(value), 1)), ' % full',
    if(section = 'JFSINODE', ' of inodes', '')) AS finding
FROM counterflow.counter AS c FINAL
WHERE section IN ('JFSFILE', 'JFSINODE')
  AND (empty({systems:Array(String)}) OR has({systems:Array(String)}, system))
  AND ts > {since:DateTime64(3)} AND ts <= {until:DateTime64(3)}
GROUP BY system, section, instance
HAVING max(value) >= 85
