-- busy_max_pct: Busy share of the busiest unit in its busiest interval, %; `disk_load.busy_pct`.
-- busiest_disk: That unit; `disk_load.disk`.
-- response_max_ms: Mean response of the pool's units in the worst interval, ms; `disk_load.transfer_ms` / `disk_load.timed_transfers`.
WITH units AS (
  SELECT * FROM counterflow.disk_load
  WHERE leaf AND asp IS NOT NULL AND asp != '0' AND source IN ('ibmi_tables', 'wrkdsksts')
    AND <chosen>
)
SELECT
  a.system AS system,
  a.asp AS subject,
  a.busy_max_pct AS busy_max_pct,
  a.busiest_disk AS busiest_disk,
  r.response_max_ms AS response_max_ms
FROM (
  SELECT
    system,
    assumeNotNull(asp) AS asp,
    max(busy_pct) AS busy_max_pct,
    argMax(disk, busy_pct) AS busiest_disk
  FROM units
  GROUP BY system, asp
) AS a
LEFT JOIN (
  SELECT system, asp, max(response_ms) AS response_max_ms
  FROM (
    SELECT
      system,
      ts,
      assumeNotNull(asp) AS asp,
      sum(transfer_ms) / nullIf(sum(timed_transfers), 0) AS response_ms
    FROM units
    GROUP BY system, ts, asp
  )
  GROUP BY system, asp
) AS r ON r.system = a.system AND r.asp = a.asp
