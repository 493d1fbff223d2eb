-- What could not be judged, and what is missing?
-- rule: to watch where a verdict was UNKNOWN for the whole time
SELECT
  system,
  'watch' AS severity,
  max(v.ts) AS at,
  concat(rule, ' cannot judge ', entity, ': ', argMax(reason, v.ts)) AS finding
FROM counterflow.verdict AS v FINAL
WHERE (empty({systems:Array(String)}) OR has({systems:Array(String)}, system))
  AND ts > {since:DateTime64(3)} AND ts <= {until:DateTime64(3)}
GROUP BY system, rule, entity
HAVING countIf(state != 'UNKNOWN') = 0
