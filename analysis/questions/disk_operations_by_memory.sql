-- Do the disks do fewer operations where a system has more memory? Mean by memory, to the GB: add memory until they fall no further.
-- section: Disks
WITH memory AS (
  SELECT system, toStartOfMinute(ts) AS minute, round(any(mb) / 1024) AS memory_gb
  FROM (
    SELECT p.system AS system, p.ts AS ts, sum(p.size_mb) AS mb
    FROM counterflow.pool AS p FINAL
    WHERE p.size_mb IS NOT NULL
      AND <chosen p>
    GROUP BY system, ts
  )
  GROUP BY system, minute
)
SELECT
  m.system AS system,
  m.memory_gb AS memory_gb,
  min(d.ts) AS first_at,
  max(d.ts) AS last_at,
  count() AS intervals,
  round(sum(d.transfers_per_s * d.interval_s) / nullIf(sumIf(d.interval_s, d.transfers_per_s IS NOT NULL), 0), 1)
    AS transfers_per_s_avg,
  round(sum(d.reads_per_s * d.interval_s) / nullIf(sumIf(d.interval_s, d.reads_per_s IS NOT NULL), 0), 1) AS reads_per_s_avg,
  round(sum(d.writes_per_s * d.interval_s) / nullIf(sumIf(d.interval_s, d.writes_per_s IS NOT NULL), 0), 1) AS writes_per_s_avg
FROM counterflow.disk_total AS d
INNER JOIN memory AS m ON m.system = d.system AND m.minute = toStartOfMinute(d.ts)
WHERE d.transfers_per_s IS NOT NULL
  AND d.ts > {since:DateTime64(3)} AND d.ts <= {until:DateTime64(3)}
GROUP BY system, memory_gb
ORDER BY system, memory_gb
LIMIT 100
