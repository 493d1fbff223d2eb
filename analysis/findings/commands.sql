-- Which command used most processor time?
-- rule: none, always stated
SELECT
  system,
  'note' AS severity,
  busiest_at AS at,
  concat('command with most processor time: ', command, ', ',
    if(seconds < 7200, concat(toString(round(seconds, 1)), ' s'), concat(toString(round(seconds / 3600, 1)), ' h')),
    ' in all, ', toString(round(most, 2)), ' processors at most') AS finding
FROM
(
  SELECT system, command, sum(cpu_ms) / 1000 AS seconds, max(cpu_cores) AS most, argMin(f.ts, (-cpu_cores, f.ts)) AS busiest_at
  FROM counterflow.footprint AS f
  WHERE cpu_ms IS NOT NULL
    AND <chosen>
  GROUP BY system, command
  HAVING seconds > 0
)
ORDER BY seconds DESC, command
LIMIT 1 BY system
