-- What does a mirrored change cost the node that applies it? CPU of QDBMSRVR for each logical change these jobs made.
-- section: Links and Db2 Mirror
SELECT
  system,
  round(sum(cpu_ms) / 1000, 1) AS cpu_s,
  round(sum(cpu_cores * interval_s) / nullIf(sumIf(interval_s, cpu_cores IS NOT NULL), 0), 3) AS cores_when_present,
  sum(made) AS changes,
  round(1000 * sumIf(cpu_ms, made IS NOT NULL) / nullIf(sumIf(made, cpu_ms IS NOT NULL), 0), 1) AS cpu_us_per_change
FROM (
  SELECT
    c.system AS system,
    c.interval_s AS interval_s,
    c.cpu_ms AS cpu_ms,
    c.cpu_cores AS cpu_cores,
    m.row_operations - m.reads AS made
  FROM (SELECT * FROM counterflow.job_cpu WHERE grouping = 'job' AND name = 'QDBMSRVR') AS c
  LEFT JOIN (SELECT * FROM counterflow.io_mix FINAL WHERE grouping = 'job' AND name = 'QDBMSRVR') AS m
    ON c.system = m.system AND c.ts = m.ts
  WHERE <chosen c>
)
GROUP BY system
ORDER BY cpu_s DESC, system
LIMIT 20
