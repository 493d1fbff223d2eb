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
WHERE <chosen>
GROUP BY system, file, reason, kept
ORDER BY times DESC, system, file, reason
LIMIT 50
