-- Which disks are slow at worst? 95th percentile by interval, the worst first; empty where the last bucket holds it.
-- section: Disks
SELECT
  system,
  disk,
  operation,
  sum(operations) AS operations_total,
  round(sum(mean_ms * operations) / nullIf(operations_total, 0), 2) AS mean_ms,
  round(max(p95_ms), 2) AS worst_p95_ms,
  argMax(ts, p95_ms) AS at,
  countIf(p95_ms IS NULL AND operations > 0) AS intervals_beyond_the_last_bucket
FROM (
  SELECT l.* FROM counterflow.disk_latency AS l
  WHERE <chosen l>
)
GROUP BY system, disk, operation
ORDER BY intervals_beyond_the_last_bucket DESC, worst_p95_ms DESC, system, disk, operation
LIMIT 20
