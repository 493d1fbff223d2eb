-- When were the processors busiest, and what ran then? The ten busiest intervals of each system, the three commands with most CPU.
-- section: Processors
SELECT
  l.system AS system,
  l.ts AS interval_end,
  l.engine_type AS engine_type,
  round(l.busy_pct, 1) AS busy_pct,
  round(l.processors, 2) AS processors,
  f.commands AS most_cpu,
  f.cores AS cores_of_these
FROM counterflow.processor_load AS l
LEFT JOIN (
  SELECT
    system, ts,
    arraySlice(arrayReverseSort(groupArray((cpu_cores, command))), 1, 3) AS top,
    arrayMap(one -> one.2, top) AS commands,
    arrayMap(one -> round(one.1, 2), top) AS cores
  FROM counterflow.footprint
  WHERE cpu_cores IS NOT NULL
    AND <chosen>
  GROUP BY system, ts
) AS f ON f.system = l.system AND f.ts = l.ts
WHERE l.busy_pct IS NOT NULL
  AND <chosen l>
ORDER BY l.busy_pct DESC, system, interval_end, engine_type
LIMIT 10 BY system, engine_type
LIMIT 200
