-- Which measurement runs are described, and on which systems? As the site's configuration is now; for comparing them: counterflow study.
-- section: Work and cost
SELECT
  item AS run_name,
  system,
  maxOrNullIf(value_now, name = 'begin') AS run_begin,
  maxOrNullIf(value_now, name = 'end') AS run_end,
  maxOrNullIf(value_now, name = 'workload') AS workload,
  maxOrNullIf(value_now, name = 'units') AS units
FROM (
  SELECT c.system AS system, c.item AS item, c.name AS name, argMax(c.value, c.ts) AS value_now
  FROM counterflow.config AS c FINAL
  WHERE c.section = 'run'
    AND <chosen c>
  GROUP BY system, item, name
)
GROUP BY run_name, system
ORDER BY run_begin, run_name, system
LIMIT 100
