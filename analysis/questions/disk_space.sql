-- Which disks are filling up? Space used at the newest sample and at the first of the chosen period.
-- section: Disks
SELECT
  d.system AS system,
  d.disk AS disk,
  any(d.asp) AS asp,
  round(argMax(d.capacity_mb, d.ts) / 1000, 1) AS capacity_gb,
  round(argMin(d.used_pct, d.ts), 1) AS used_pct_first,
  round(argMax(d.used_pct, d.ts), 1) AS used_pct_last,
  max(d.ts) AS measured_at
FROM counterflow.disk AS d FINAL
WHERE d.used_pct IS NOT NULL
  AND <chosen d>
GROUP BY system, disk
ORDER BY used_pct_last DESC, system, disk
LIMIT 40
