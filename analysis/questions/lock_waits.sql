-- When did jobs wait for locks, and which? The intervals with most lock contention, and the three job names that waited longest.
-- section: Waits
SELECT
  p.system AS system,
  p.ts AS interval_end,
  round(sum(p.seconds), 1) AS lock_contention_s,
  arrayMap(one -> one.2, arraySlice(arrayReverseSort(groupArray((p.seconds, p.name))), 1, 3)) AS jobs,
  arrayMap(one -> round(one.1, 1), arraySlice(arrayReverseSort(groupArray((p.seconds, p.name))), 1, 3)) AS seconds_of_these
FROM counterflow.wait_profile AS p
WHERE p.grouping = 'job' AND p.wait_group = 'lock_contention' AND p.seconds > 0
  AND <chosen p>
GROUP BY system, interval_end
ORDER BY lock_contention_s DESC, system, interval_end
LIMIT 20
