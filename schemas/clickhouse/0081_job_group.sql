-- The same rows, by a branch a grouping: a condition on the grouping leaves one of them to be read, where ARRAY JOIN made
-- seven rows of each before it was looked at.
CREATE OR REPLACE VIEW counterflow.job_group {on_cluster} AS
WITH jobs AS
(
  SELECT *, (logical_reads + logical_writes + logical_other) IS NOT NULL AS counted
  FROM counterflow.job FINAL
  WHERE source = 'ibmi_tables'
)
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
  SELECT 'thread' AS grouping, toNullable(job) AS group_name, * FROM jobs
  UNION ALL SELECT 'job' AS grouping, job_name AS group_name, * FROM jobs
  UNION ALL SELECT 'generic_job' AS grouping, left(job_name, 6) AS group_name, * FROM jobs
  UNION ALL SELECT 'user' AS grouping, job_user AS group_name, * FROM jobs
  UNION ALL SELECT 'subsystem' AS grouping, subsystem AS group_name, * FROM jobs
  UNION ALL SELECT 'pool' AS grouping, job_pool AS group_name, * FROM jobs
  UNION ALL SELECT 'job_type' AS grouping, job_type AS group_name, * FROM jobs
)
WHERE group_name IS NOT NULL
GROUP BY ts, system, grouping, group_name
COMMENT 'What IBM i jobs did over one interval, by thread, job name, generic job, user, subsystem, memory pool and job type; four_way says that read_for_update is known of all rows.';

ALTER TABLE counterflow.job_group {on_cluster}
  COMMENT COLUMN `ts` 'End of the interval, UTC.',
  COMMENT COLUMN `interval_s` 'Length of the interval. [s; gauge; null: the inputs give no length]',
  COMMENT COLUMN `system` 'Name of the system.',
  COMMENT COLUMN `grouping` 'By what: thread, job (name), generic_job (first six characters of the name), user, subsystem, pool or job_type. Each is the same work again.',
  COMMENT COLUMN `name` 'Name of the group.',
  COMMENT COLUMN `threads` 'Jobs and threads, rows of the dataset job, in the group. [rows; gauge]',
  COMMENT COLUMN `cpu_ms` 'Processor time. [ms; delta; null: not reported]',
  COMMENT COLUMN `sql_cpu_ms` 'Part of cpu_ms in SQL. [ms; delta; null: not reported]',
  COMMENT COLUMN `logical_io` 'reads + inserts + other. Under sequential-only processing, reads and inserts count blocks, not rows. [operations; delta; null: no row has logical I/O]',
  COMMENT COLUMN `reads` 'Logical reads, those for update among them. [reads; delta; null: no row has logical I/O]',
  COMMENT COLUMN `read_for_update` 'Logical reads for update; of all rows where four_way is true. [reads; delta; null: no row reports them]',
  COMMENT COLUMN `inserts` 'Logical writes. [writes; delta; null: no row has logical I/O]',
  COMMENT COLUMN `other` 'Updates, deletes, force end of data, commits, rollbacks, releases. [operations; delta; null: no row has logical I/O]',
  COMMENT COLUMN `four_way` 'read_for_update is known of every row that has logical I/O.',
  COMMENT COLUMN `sync_reads` 'Synchronous disk reads, of database and other objects. [reads; delta; null: not reported]',
  COMMENT COLUMN `sync_writes` 'Synchronous disk writes, of database and other objects. [writes; delta; null: not reported]',
  COMMENT COLUMN `async_reads` 'Asynchronous disk reads, of database and other objects. [reads; delta; null: not reported]',
  COMMENT COLUMN `async_writes` 'Asynchronous disk writes, of database and other objects. [writes; delta; null: not reported]',
  COMMENT COLUMN `page_faults` 'Page faults. [faults; delta; null: not reported]',
  COMMENT COLUMN `transactions` 'Transactions. [transactions; delta; null: not reported]',
  COMMENT COLUMN `response_s` 'Response time of all transactions together. [s; delta; null: not reported]';
