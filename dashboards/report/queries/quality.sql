-- What was repaired or refused, and why.
SELECT
  system, reason, kept, count() AS times, min(file) AS file, argMin(detail, (file, line)) AS example
FROM counterflow.quality FINAL
WHERE $__timeFilter(ts) AND system IN (${system:singlequote})
GROUP BY system, reason, kept
ORDER BY times DESC, system, reason, kept
LIMIT 500
