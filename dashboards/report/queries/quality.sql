-- What was repaired or refused, and why; `kinds` counts all rows, `anomalies` sums up their times.
SELECT
  q.system AS system, q.reason AS reason, q.kept AS kept, count() AS times,
  min(q.file) AS file, argMin(q.detail, (q.file, q.line)) AS example,
  count() OVER () AS kinds, sum(count()) OVER () AS anomalies
FROM counterflow.quality AS q FINAL
WHERE $__timeFilter(q.ts) AND q.system IN (${system:singlequote})
GROUP BY system, reason, kept
ORDER BY times DESC, system, reason, kept
LIMIT 100
