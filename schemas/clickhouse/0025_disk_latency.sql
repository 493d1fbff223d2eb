-- The response time that 95 % of the operations of an interval keep, from the counts of the response-time buckets.
-- Within the bucket that holds it the operations are taken to be spread evenly. Null where that is the last bucket,
-- which has no upper boundary, and where boundaries are not known. Never average it: over a period the buckets add up.
CREATE VIEW IF NOT EXISTS counterflow.disk_latency {on_cluster} AS
SELECT
  ts, interval_s, system, disk, operation, operations, mean_ms,
  (lower_us + (uppers_us[holds] - lower_us) * (wanted - before) / counts[holds]) / 1000 AS p95_ms
FROM
(
  SELECT
    *,
    0.95 * operations AS wanted,
    arrayFirstIndex(cumulated -> cumulated >= wanted AND cumulated > 0, arrayCumSum(counts)) AS holds,
    arraySum(arraySlice(counts, 1, holds - 1)) AS before,
    if(holds = 1, 0, uppers_us[holds - 1]) AS lower_us
  FROM
  (
    SELECT
      b.ts AS ts, max(b.interval_s) AS interval_s, b.system AS system, b.disk AS disk, b.operation AS operation,
      arraySort(groupArray((b.bucket, assumeNotNull(b.operations), b.upper_us))) AS buckets,
      arrayMap(one -> one.2, buckets) AS counts,
      arrayMap(one -> one.3, buckets) AS uppers_us,
      arraySum(counts) AS operations,
      sum(b.response_ms) / nullIf(operations, 0) AS mean_ms
    FROM counterflow.disk_bucket AS b FINAL
    WHERE b.operations IS NOT NULL
    GROUP BY ts, system, disk, operation
  )
)
COMMENT 'Mean and 95th percentile of the response time of the reads, writes or all operations of one disk over one interval.';
