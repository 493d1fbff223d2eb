-- What did one unit of work cost on each path of the log? Intervals in which all logs of the system took one path.
-- section: Work and cost
SELECT
  a.system AS system,
  a.workload AS workload,
  l.path AS path,
  round(sum(a.accounts)) AS units,
  round(3600 * sum(a.accounts) / nullIf(sum(a.interval_s), 0)) AS units_per_hour,
  round(sum(a.gcp_ms_per_account * a.accounts) / nullIf(sumIf(a.accounts, a.gcp_ms_per_account IS NOT NULL), 0), 4) AS gcp_ms_a_unit,
  round(sum(a.ziip_ms_per_account * a.accounts) / nullIf(sumIf(a.accounts, a.ziip_ms_per_account IS NOT NULL), 0), 4) AS ziip_ms_a_unit,
  round(sum(a.log_bytes_per_account * a.accounts)
    / nullIf(sumIf(a.accounts, a.log_bytes_per_account IS NOT NULL), 0)) AS log_bytes_a_unit
FROM (SELECT * FROM counterflow.account_cpu FINAL WHERE basis = 'lpar' AND missing IS NULL
  AND <chosen>) AS a
INNER JOIN (
  SELECT system, ts, any(path) AS path
  FROM counterflow.log_load FINAL
  WHERE <chosen>
  GROUP BY system, ts
  HAVING uniqExact(log_load.path) = 1 AND countIf(log_load.path IS NULL) = 0
) AS l ON l.system = a.system AND l.ts = a.ts
GROUP BY system, workload, path
ORDER BY system, workload, path
LIMIT 100
