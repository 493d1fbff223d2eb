-- How much memory was left at the worst moment? The least free and cached memory, and the most paging space in use.
-- section: Memory
SELECT
  p.system AS system,
  p.pool AS pool,
  any(p.pool_name) AS pool_name,
  round(argMax(p.size_mb, p.ts)) AS size_mb_now,
  round(min(p.free_mb)) AS free_mb_min,
  argMin(p.ts, p.free_mb) AS least_free_at,
  round(min(p.free_mb + p.cached_mb)) AS free_and_cached_mb_min,
  round(max(p.paging_space_mb - p.paging_space_free_mb)) AS paging_space_used_mb_max
FROM counterflow.pool AS p FINAL
WHERE <chosen p>
GROUP BY system, pool
ORDER BY system, pool
LIMIT 100
