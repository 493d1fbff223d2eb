-- Who holds the memory? The most of each command, and on average while it was there.
-- section: Memory
SELECT
  f.system AS system,
  f.command AS command,
  round(max(f.memory_mb), 1) AS memory_mb_max,
  argMin(f.ts, (-f.memory_mb, f.ts)) AS at,
  round(sum(f.memory_mb * f.interval_s) / nullIf(sumIf(f.interval_s, f.memory_mb IS NOT NULL), 0), 1) AS memory_mb_avg_when_present
FROM counterflow.footprint AS f
WHERE f.memory_mb IS NOT NULL
  AND <chosen f>
GROUP BY system, command
ORDER BY memory_mb_max DESC, system, command
LIMIT 20
