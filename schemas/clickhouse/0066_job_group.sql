-- IBM i jobs in every grouping that people ask for. io_mix and job_cpu are quicker where they have the grouping.
-- Reads, writes and other logical I/O count, as in io_mix, where a row has all three.
CREATE VIEW IF NOT EXISTS counterflow.job_group {on_cluster} AS
SELECT
  ts, max(interval_s) AS interval_s, system, grouping, assumeNotNull(group_name) AS name, count() AS threads,
  sum(cpu_ms) AS cpu_ms,
  sum(sql_cpu_ms) AS sql_cpu_ms,
  sum(logical_reads + logical_writes + logical_other) AS logical_io,
  sumIf(logical_reads, counted) AS reads,
  sumIf(logical_reads_for_update, counted) AS read_for_update,
  sumIf(logical_writes, counted) AS inserts,
  sumIf(logical_other, counted) AS other,
  countIf(counted) > 0 AND countIf(counted) = countIf(counted AND logical_reads_for_update IS NOT NULL) AS four_way,
  sum(sync_db_reads + sync_nondb_reads) AS sync_reads,
  sum(sync_db_writes + sync_nondb_writes) AS sync_writes,
  sum(async_db_reads + async_nondb_reads) AS async_reads,
  sum(async_db_writes + async_nondb_writes) AS async_writes,
  sum(page_faults) AS page_faults,
  sum(transactions) AS transactions,
  sum(response_s) AS response_s
FROM
(
  SELECT *, (logical_reads + logical_writes + logical_other) IS NOT NULL AS counted
  FROM counterflow.job FINAL
  WHERE source = 'ibmi_tables'
)
ARRAY JOIN
  ['thread', 'job', 'generic_job', 'user', 'subsystem', 'pool', 'job_type'] AS grouping,
  [job, job_name, left(job_name, 6), job_user, subsystem, job_pool, job_type] AS group_name
WHERE group_name IS NOT NULL
GROUP BY ts, system, grouping, group_name
COMMENT 'What IBM i jobs did over one interval, by thread, job name, generic job, user, subsystem, memory pool and job type; four_way says that read_for_update is known of all rows.';
