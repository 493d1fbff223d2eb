-- How much of a job's logical database I/O would mirroring touch? Groups, formulas and caveats: README.md; sources:
-- QAPMJOBOS (schemas/datasets/job.yaml); Db2 Mirror for i: Performance Considerations, 2.2.
--
-- `n` of the partition counts every job row, with logical I/O or without, as the manifest does; `n` of the others counts
-- the rows with logical I/O that name the group. A row has logical I/O where its reads, writes and other are all known.

CREATE TEMPORARY VIEW known AS
SELECT
  `system`, ts, interval_s, job_name, job_user, subsystem, commits, rollbacks,
  logical_reads + logical_writes + logical_other AS logical_io,
  CASE WHEN logical_writes + logical_other IS NOT NULL THEN logical_reads END AS logical_reads,
  CASE WHEN logical_writes + logical_other IS NOT NULL AND logical_reads IS NOT NULL THEN logical_reads_for_update END
    AS logical_reads_for_update,
  CASE WHEN logical_reads + logical_other IS NOT NULL THEN logical_writes END AS logical_writes,
  CASE WHEN logical_reads + logical_writes + logical_other IS NOT NULL THEN commits + rollbacks END AS ends
FROM job;

-- One array of a row's groups, not a branch per group: the planner would give each branch the columns that it needs,
-- and with them its own state of all rows.
CREATE TEMPORARY VIEW grouped AS
SELECT k.`grouping`, k.name, o.*
FROM (
  SELECT *, ARRAY[
    ROW('partition', '*'),
    ROW('subsystem', subsystem),
    ROW('user', job_user),
    ROW('job', job_name),
    ROW('generic_job', SUBSTRING(job_name, 1, 6))
  ] AS names
  FROM known
) AS o
CROSS JOIN UNNEST(o.names) AS k (`grouping`, name)
WHERE k.name IS NOT NULL AND (o.logical_io IS NOT NULL OR k.`grouping` = 'partition');

CREATE TEMPORARY VIEW sums AS
SELECT
  ts, MAX(interval_s) AS interval_s, `system`, COUNT(*) AS n, `grouping`, name,
  COUNT(logical_io) AS counted, COUNT(logical_reads_for_update) AS parted, COUNT(ends) AS ended, SUM(ends) AS ends,
  SUM(logical_io) AS logical_io, SUM(logical_reads) AS logical_reads,
  SUM(logical_reads_for_update) AS read_for_update, SUM(logical_writes) AS inserts,
  SUM(commits) AS commits, SUM(rollbacks) AS rollbacks
FROM grouped
GROUP BY `system`, `grouping`, name, ts;

CREATE TEMPORARY VIEW based AS
SELECT
  *, CASE WHEN counted > 0 THEN
    CASE WHEN ended = counted AND ends <= logical_io - logical_reads - inserts THEN 'changes' ELSE 'with_commits' END
  END AS modify_basis
FROM sums;

CREATE TEMPORARY VIEW parts AS
SELECT
  ts, interval_s, `system`, n, `grouping`, name, commits, rollbacks,
  CASE WHEN counted > 0 THEN CASE WHEN parted = counted THEN 'four-way' ELSE 'three-way' END END AS split,
  logical_io, NULLIF(logical_io, 0) AS whole, logical_reads, inserts, modify_basis,
  CASE modify_basis WHEN 'changes' THEN logical_io - ends ELSE logical_io END AS row_operations,
  logical_io - logical_reads - inserts AS other,
  CASE WHEN parted = counted THEN read_for_update END AS read_for_update,
  logical_reads - COALESCE(read_for_update, 0) AS untouched
FROM based;

INSERT INTO io_mix (
  ts, interval_s, `system`, n, `grouping`, name, split, modify_basis, logical_io, row_operations, logical_io_per_s,
  `reads`, read_only, read_for_update, inserts, other,
  read_pct, read_only_pct, read_for_update_pct, insert_pct, other_pct, modify_pct, exposure_pct, commits, rollbacks
)
SELECT
  ts, interval_s, `system`, n, `grouping`, name, split, modify_basis, logical_io, row_operations,
  logical_io / NULLIF(interval_s, 0),
  logical_reads, logical_reads - read_for_update, read_for_update, inserts, other,
  100 * logical_reads / whole,
  100 * (logical_reads - read_for_update) / whole,
  100 * read_for_update / whole,
  100 * inserts / whole,
  100 * other / whole,
  100 * (row_operations - logical_reads) / NULLIF(row_operations, 0),
  100 * (row_operations - untouched) / NULLIF(row_operations, 0),
  commits, rollbacks
FROM parts;
