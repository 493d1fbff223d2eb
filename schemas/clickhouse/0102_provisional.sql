-- Manifests of Collection Services name the file too, ibmi_tables.QAPMJOBMI: results that only that format feeds are found
-- by the beginning of their source.
CREATE OR REPLACE VIEW counterflow.provisional {on_cluster} AS
SELECT dataset, system, ts, coalesce(result.n, 0) AS n, published AS row_count
FROM
(
  -- Which results count the rows of a manifest.
  SELECT
    arrayJoin(multiIf(
      counted = 'db_log', ['log_load'],
      counted = 'disk', if(startsWith(source, 'ibmi_tables'), ['disk_load', 'pool_faulting'], ['disk_load']),
      counted = 'job' AND startsWith(source, 'ibmi_tables'), ['footprint', 'io_mix', 'job_cpu', 'pool_faulting'],
      counted = 'job', ['footprint'],
      counted = 'link', ['link_load'],
      counted = 'pool' AND startsWith(source, 'ibmi_tables'), ['pool_faulting'],
      counted = 'replication', ['replication_lag'],
      counted = 'wait', ['wait_signature'],
      counted = 'workload', ['account_cpu'],
      []
    )) AS dataset,
    system, ts, sum(row_count) AS published
  FROM counterflow.manifest FINAL
  GROUP BY dataset, system, ts
  HAVING dataset != 'pool_faulting' OR sumIf(row_count, counted = 'pool') > 0
) AS manifest
LEFT JOIN
(
  SELECT 'account_cpu' AS dataset, system, ts, sum(samples) AS n FROM counterflow.account_cpu FINAL
  WHERE basis = 'lpar' GROUP BY system, ts
  UNION ALL
  SELECT 'disk_load' AS dataset, system, ts, n FROM counterflow.disk_load FINAL WHERE disk = '*'
  UNION ALL
  SELECT 'footprint' AS dataset, system, ts, sum(n) AS n FROM counterflow.footprint FINAL GROUP BY system, ts
  UNION ALL
  SELECT 'io_mix' AS dataset, system, ts, n FROM counterflow.io_mix FINAL WHERE grouping = 'partition'
  UNION ALL
  SELECT 'job_cpu' AS dataset, system, ts, n FROM counterflow.job_cpu FINAL WHERE grouping = 'partition'
  UNION ALL
  SELECT 'link_load' AS dataset, system, ts, count() AS n FROM counterflow.link_load FINAL GROUP BY system, ts
  UNION ALL
  SELECT 'log_load' AS dataset, system, ts, count() AS n FROM counterflow.log_load FINAL GROUP BY system, ts
  UNION ALL
  -- the disk rows are the same for every pool
  SELECT 'pool_faulting' AS dataset, system, ts, toUInt64(sum(n) - sum(disks) + max(disks)) AS n
  FROM counterflow.pool_faulting FINAL GROUP BY system, ts
  UNION ALL
  SELECT 'replication_lag' AS dataset, system, ts, count() AS n FROM counterflow.replication_lag FINAL GROUP BY system, ts
  UNION ALL
  -- the job is one row of n, and of another manifest
  SELECT 'wait_signature' AS dataset, system, ts, toUInt64(sum(n) - countIf(job IS NOT NULL)) AS n
  FROM counterflow.wait_signature FINAL GROUP BY system, ts
) AS result USING (dataset, system, ts)
WHERE n < row_count
COMMENT 'Results that are still made of fewer input rows than their manifests say; n is 0 where there is no result yet.';

ALTER TABLE counterflow.provisional {on_cluster}
  COMMENT COLUMN `dataset` 'Dataset of the result.',
  COMMENT COLUMN `system` 'Name of the system.',
  COMMENT COLUMN `ts` 'End of the interval, UTC.',
  COMMENT COLUMN `n` 'Input rows that the result is made of; 0 where there is no result yet. [rows; gauge]',
  COMMENT COLUMN `row_count` 'Input rows that were published, by their manifests. [rows; gauge]';
