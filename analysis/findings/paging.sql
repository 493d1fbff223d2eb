-- Did the system write memory to paging space?
-- rule: a limit where it did in a tenth of the intervals, to watch where it ever did
SELECT
  system,
  if(countIf(paging_space_pages_out > 0) / count() >= 0.1, 'limit', 'watch') AS severity,
  argMin(p.ts, (-paging_space_pages_out / interval_s, p.ts)) AS at,
  concat('wrote to paging space in ', toString(countIf(paging_space_pages_out > 0)), ' of ', toString(count()),
    ' intervals, ', toString(round(max(paging_space_pages_out / interval_s), 1)), ' pages/s at most') AS finding
FROM counterflow.pool AS p FINAL
WHERE paging_space_pages_out IS NOT NULL AND interval_s > 0
  AND <chosen>
GROUP BY system
HAVING countIf(paging_space_pages_out > 0) > 0
