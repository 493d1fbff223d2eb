-- How much of each generic job's logical database I/O would Db2 Mirror touch? Blocks count as one under sequential-only.
-- section: Logical database I/O
SELECT
  system,
  name AS generic_job,
  if(count(reads_not_parted) = 0, 'four-way', 'three-way') AS split,
  sum(logical_io) AS logical_io_total,
  round(100 * sum(reads) / nullIf(logical_io_total, 0), 1) AS read_pct,
  if(split = 'four-way', round(100 * sum(read_for_update) / nullIf(logical_io_total, 0), 1), NULL) AS read_for_update_pct,
  round(100 * sum(inserts) / nullIf(logical_io_total, 0), 1) AS insert_pct,
  round(100 * sum(other) / nullIf(logical_io_total, 0), 1) AS other_pct,
  round(100 * sum(exposed) / nullIf(sum(row_operations), 0), 1) AS exposure_pct,
  multiIf(
    countIf(commits_counted_in) = 0, if(split = 'four-way', 'exact', 'at least'),
    split = 'four-way', 'at most: commits are counted in',
    'no bound: commits are counted in, reads for update are not'
  ) AS exposure_is
FROM counterflow.io_by(grouping = 'generic_job')
WHERE <chosen>
GROUP BY system, name
ORDER BY logical_io_total DESC, system, generic_job
LIMIT 20
