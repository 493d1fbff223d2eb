-- The intervals whose processes were recorded, including those without any process.
SELECT
  toUnixTimestamp64Milli(ts) / 1000 AS end_s,
  max(interval_s) AS seconds,
  system, any(manifest.boot_id) AS boot_id
FROM counterflow.manifest FINAL
WHERE counted = 'job' AND ts > {from:DateTime64(3)} AND ts <= {to:DateTime64(3)} AND has({systems:Array(String)}, system)
GROUP BY system, ts
ORDER BY end_s
