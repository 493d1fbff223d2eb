-- Which files were damaged, and how much of them was lost? Anomalies by what was kept of the line.
-- section: Data and pipeline
SELECT
  q.system AS system,
  q.file AS file,
  countIf(q.kept = 'all') AS repaired,
  countIf(q.kept = 'part') AS kept_in_part,
  countIf(q.kept = 'none') AS refused,
  arraySort(groupUniqArray(20)(q.reason)) AS reasons,
  min(q.line) AS first_line
FROM counterflow.quality AS q FINAL
WHERE (empty({systems:Array(String)}) OR has({systems:Array(String)}, q.system))
  AND q.ts > {since:DateTime64(3)} AND q.ts <= {until:DateTime64(3)}
GROUP BY system, file
ORDER BY refused DESC, kept_in_part DESC, repaired DESC, system, file
LIMIT 50
