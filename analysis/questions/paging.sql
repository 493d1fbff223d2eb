-- Which systems page? Pages to and from paging space a second, the worst interval, and page faults.
-- section: Memory
SELECT
  p.system AS system,
  p.pool AS pool,
  round(sum(p.paging_space_pages_in) / nullIf(sumIf(p.interval_s, p.paging_space_pages_in IS NOT NULL), 0), 2) AS pages_in_per_s,
  round(sum(p.paging_space_pages_out) / nullIf(sumIf(p.interval_s, p.paging_space_pages_out IS NOT NULL), 0), 2) AS pages_out_per_s,
  round(max(p.paging_space_pages_out / nullIf(p.interval_s, 0)), 2) AS pages_out_per_s_max,
  argMax(p.ts, p.paging_space_pages_out / nullIf(p.interval_s, 0)) AS worst_at,
  round(sum(p.major_faults) / nullIf(sumIf(p.interval_s, p.major_faults IS NOT NULL), 0), 2) AS major_faults_per_s
FROM counterflow.pool AS p FINAL
WHERE (p.paging_space_pages_in IS NOT NULL OR p.paging_space_pages_out IS NOT NULL OR p.major_faults IS NOT NULL)
  AND <chosen p>
GROUP BY system, pool
ORDER BY pages_out_per_s DESC NULLS LAST, system, pool
LIMIT 50
