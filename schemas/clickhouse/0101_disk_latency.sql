-- The same figures from three arrays of numbers an interval: an array of tuples, sorted, took twice as long.
CREATE OR REPLACE VIEW counterflow.disk_latency {on_cluster} AS
SELECT
  ts, interval_s, system, disk, operation, operations, mean_ms,
  if(isFinite(upper_us), (lower_us + (upper_us - lower_us) * (wanted - before) / counts[holds]) / 1000, NULL) AS p95_ms
FROM
(
  SELECT
    *,
    0.95 * operations AS wanted,
    arrayFirstIndex(cumulated -> cumulated >= wanted AND cumulated > 0, arrayCumSum(counts)) AS holds,
    arraySum(arraySlice(counts, 1, holds - 1)) AS before,
    if(holds = 1, 0, uppers_us[holds - 1]) AS lower_us,
    if(holds = 0, inf, uppers_us[holds]) AS upper_us
  FROM
  (
    SELECT
      b.ts AS ts, max(b.interval_s) AS interval_s, b.system AS system, b.disk AS disk, b.operation AS operation,
      groupArray(b.bucket) AS buckets,
      arraySort((one, bucket) -> bucket, groupArray(assumeNotNull(b.operations)), buckets) AS counts,
      -- an array leaves out what is null
      arraySort((one, bucket) -> bucket, groupArray(coalesce(b.upper_us, inf)), buckets) AS uppers_us,
      arraySum(counts) AS operations,
      sum(b.response_ms) / nullIf(operations, 0) AS mean_ms
    FROM counterflow.disk_bucket AS b FINAL
    WHERE b.operations IS NOT NULL
    GROUP BY ts, system, disk, operation
  )
)
COMMENT 'Mean and 95th percentile of the response time of the reads, writes or all operations of one disk over one interval.';

ALTER TABLE counterflow.disk_latency {on_cluster}
  COMMENT COLUMN `ts` 'End of the interval, UTC.',
  COMMENT COLUMN `interval_s` 'Length of the interval. [s; gauge; null: the inputs give no length]',
  COMMENT COLUMN `system` 'Name of the system.',
  COMMENT COLUMN `disk` 'Name of the device as in the dataset disk.',
  COMMENT COLUMN `operation` 'read, write, or any where the source does not part them.',
  COMMENT COLUMN `operations` 'Operations of the interval. [operations; delta]',
  COMMENT COLUMN `mean_ms` 'Mean response time. Over a period weigh it by operations. [ms; gauge; null: no operations or no response time]',
  COMMENT COLUMN `p95_ms` 'Response time that 95 % of the operations keep; never average it. [ms; gauge; null: no operations, boundaries not known, or it lies in the last bucket, which has no upper boundary]';
