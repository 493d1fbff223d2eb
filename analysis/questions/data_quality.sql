-- How good is the data: what was repaired or refused, and why?
-- section: Data and pipeline
SELECT
  system,
  file,
  reason,
  kept,
  count() AS times,
  min(line) AS first_line,
  any(detail) AS example
FROM counterflow.quality FINAL
WHERE (empty({systems:Array(String)}) OR has({systems:Array(String)}, system))
  AND ts > {since:DateTime64(3)} AND ts <= {until:DateTime64(3)}
GROUP BY system, file, reason, kept
ORDER BY times DESC, system, file, reason
LIMIT 50
