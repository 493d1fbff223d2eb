-- Results made of fewer rows than were published for their interval: wait, or compute them again.
CREATE VIEW IF NOT EXISTS counterflow.provisional {on_cluster} AS
SELECT dataset, system, ts, coalesce(result.n, 0) AS n, published AS row_count
FROM
(
  SELECT
    transform(counted, ['disk', 'job'], ['disk_load', 'footprint'], '') AS dataset,
    system, ts, sum(row_count) AS published
  FROM counterflow.manifest FINAL
  WHERE counted IN ('disk', 'job')
  GROUP BY dataset, system, ts
) AS manifest
LEFT JOIN
(
  SELECT 'disk_load' AS dataset, system, ts, n FROM counterflow.disk_load FINAL WHERE disk = '*'
  UNION ALL
  SELECT 'footprint' AS dataset, system, ts, sum(n) AS n FROM counterflow.footprint FINAL GROUP BY system, ts
) AS result USING (dataset, system, ts)
WHERE n < row_count
COMMENT 'Results that are still made of fewer input rows than their manifests say; n is 0 where there is no result yet.';
