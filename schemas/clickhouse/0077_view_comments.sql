-- What the columns of the views mean. A view that is replaced later loses them: repeat its part then.

ALTER TABLE counterflow.component_footprint {on_cluster}
  COMMENT COLUMN `ts` 'End of the interval, UTC.',
  COMMENT COLUMN `interval_s` 'Length of the interval. [s; gauge; null: the inputs give no length]',
  COMMENT COLUMN `system` 'Name of the system.',
  COMMENT COLUMN `component` 'Q Capture, Q Apply, MQ, Db2 fenced, Db2 or other, by the beginning of the command.',
  COMMENT COLUMN `cpu_base` 'What cpu_ms is time of: logical or physical processors. [null: not known]',
  COMMENT COLUMN `n` 'Processes, rows of the dataset job, that it is made of. [rows; gauge]',
  COMMENT COLUMN `cpu_ms` 'Processor time. [ms; delta; null: not reported]',
  COMMENT COLUMN `cpu_cores` 'Processors kept busy, on average over the interval. [processors; gauge; null: not reported]',
  COMMENT COLUMN `memory_mb` 'Memory at the end of the interval. [MB; gauge; null: not reported]';

ALTER TABLE counterflow.disk_latency {on_cluster}
  COMMENT COLUMN `ts` 'End of the interval, UTC.',
  COMMENT COLUMN `interval_s` 'Length of the interval. [s; gauge; null: the inputs give no length]',
  COMMENT COLUMN `system` 'Name of the system.',
  COMMENT COLUMN `disk` 'Name of the device as in the dataset disk.',
  COMMENT COLUMN `operation` 'read, write, or any where the source does not part them.',
  COMMENT COLUMN `operations` 'Operations of the interval. [operations; delta]',
  COMMENT COLUMN `mean_ms` 'Mean response time. Over a period weigh it by operations. [ms; gauge; null: no operations or no response time]',
  COMMENT COLUMN `p95_ms` 'Response time that 95 % of the operations keep; never average it. [ms; gauge; null: no operations, boundaries not known, or it lies in the last bucket, which has no upper boundary]';

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

ALTER TABLE counterflow.loss {on_cluster}
  COMMENT COLUMN `agent_id` 'Agent that published the records.',
  COMMENT COLUMN `first_seq` 'Smallest sequence number that arrived.',
  COMMENT COLUMN `last_seq` 'Largest sequence number that arrived.',
  COMMENT COLUMN `landed` 'Rows that are in the tables, duplicates counted. [records; delta]',
  COMMENT COLUMN `deadletters` 'Rows that were refused on the way and are dead letters. [records; delta]',
  COMMENT COLUMN `lost` 'Sequence numbers between the first and the last that are nowhere; what is under way is among them until it lands. [records; gauge]',
  COMMENT COLUMN `duplicates` 'Rows beyond one for each sequence number. [records; gauge]';

ALTER TABLE counterflow.processor_load {on_cluster}
  COMMENT COLUMN `ts` 'End of the interval, UTC.',
  COMMENT COLUMN `interval_s` 'Length of the interval. [s; gauge; null: the inputs give no length]',
  COMMENT COLUMN `system` 'Name of the system.',
  COMMENT COLUMN `engine_type` 'core; gcp or ziip on z/OS.',
  COMMENT COLUMN `busy_pct` 'How busy the processors were, of what is configured (IBM i), online (z/OS), entitled (shared AIX partitions) or there (Linux); above 100 where uncapped. [%; percent; null: not reported]',
  COMMENT COLUMN `processors` 'Processors kept busy, on average over the interval. [processors; gauge; null: not reported]';

ALTER TABLE counterflow.provisional {on_cluster}
  COMMENT COLUMN `dataset` 'Dataset of the result.',
  COMMENT COLUMN `system` 'Name of the system.',
  COMMENT COLUMN `ts` 'End of the interval, UTC.',
  COMMENT COLUMN `n` 'Input rows that the result is made of; 0 where there is no result yet. [rows; gauge]',
  COMMENT COLUMN `row_count` 'Input rows that were published, by their manifests. [rows; gauge]';

ALTER TABLE counterflow.verdict_spell {on_cluster}
  COMMENT COLUMN `rule` 'Name of the rule.',
  COMMENT COLUMN `system` 'Name of the system.',
  COMMENT COLUMN `entity_type` 'What is judged: the link_type of a link, or log.',
  COMMENT COLUMN `entity` 'Its name within the system.',
  COMMENT COLUMN `state` 'State of the entity throughout the spell.',
  COMMENT COLUMN `start_ts` 'Begin of the first interval of the spell, UTC.',
  COMMENT COLUMN `end_ts` 'End of the last interval of the spell, UTC.',
  COMMENT COLUMN `intervals` 'Verdicts of the spell. [intervals; gauge]',
  COMMENT COLUMN `stale_intervals` 'Intervals among them that allowed no verdict and kept the state. [intervals; gauge]',
  COMMENT COLUMN `reason` 'The figures that decided in the first interval.',
  COMMENT COLUMN `evidence` 'Inputs, derived figures and thresholds of the first interval, as JSON.';

ALTER TABLE counterflow.virtual_io {on_cluster}
  COMMENT COLUMN `ts` 'End of the interval, UTC.',
  COMMENT COLUMN `interval_s` 'Length of the interval. [s; gauge; null: the inputs give no length]',
  COMMENT COLUMN `system` 'Name of the system.',
  COMMENT COLUMN `disk` 'Name of the leaf disk.',
  COMMENT COLUMN `reads_per_s` 'Reads a second. [reads/s; rate; null: not reported]',
  COMMENT COLUMN `writes_per_s` 'Writes a second. [writes/s; rate; null: not reported]',
  COMMENT COLUMN `kb_per_read` 'Mean size of a read, KB of 1024 bytes. [KB; gauge; null: no reads or size not reported]',
  COMMENT COLUMN `kb_per_write` 'Mean size of a write, KB of 1024 bytes. [KB; gauge; null: no writes or size not reported]',
  COMMENT COLUMN `read_us` 'Processor time of a virtual read of that size, of one 2.2 GHz POWER5 processor. [µs; gauge; null: size not known or above 256 KB]',
  COMMENT COLUMN `write_us` 'Processor time of a virtual write of that size, of one 2.2 GHz POWER5 processor. [µs; gauge; null: size not known or above 256 KB]',
  COMMENT COLUMN `virtual_scsi_processors` 'Processors of 2.2 GHz POWER5 that the virtual SCSI server would need. [processors; gauge; null: a time of an operation is not known]',
  COMMENT COLUMN `iscsi_hardware_target_cpw` 'CPW that an iSCSI host with a hardware target would need. [CPW; gauge; null: transfers not reported]',
  COMMENT COLUMN `iscsi_software_target_cpw` 'CPW that an iSCSI host with a software target would need. [CPW; gauge; null: transfers not reported]';

ALTER TABLE counterflow.wait_group {on_cluster}
  COMMENT COLUMN `ts` 'End of the interval, UTC.',
  COMMENT COLUMN `interval_s` 'Length of the interval. [s; gauge; null: the inputs give no length]',
  COMMENT COLUMN `system` 'Name of the system.',
  COMMENT COLUMN `grouping` 'By what: thread, pool (memory pool) or job_type. Each is the same time again.',
  COMMENT COLUMN `name` 'Name of the group: the job or else the task, the pool, the type.',
  COMMENT COLUMN `wait_group` 'One of dispatched_cpu, cpu_queueing, disk, journaling, operating_system_contention, lock_contention, ineligible or other; other holds idle waits.',
  COMMENT COLUMN `seconds` 'Time in the wait group, of all tasks together. [s; delta]';

ALTER TABLE counterflow.wait_profile {on_cluster}
  COMMENT COLUMN `ts` 'End of the interval, UTC.',
  COMMENT COLUMN `interval_s` 'Length of the interval. [s; gauge; null: the inputs give no length]',
  COMMENT COLUMN `system` 'Name of the system.',
  COMMENT COLUMN `grouping` 'By what: system (all of it), subsystem, user, job (name) or generic_job (first six characters of the name). Each is the same time again.',
  COMMENT COLUMN `name` 'Name of the group; * for the system.',
  COMMENT COLUMN `wait_group` 'One of dispatched_cpu, cpu_queueing, disk, journaling, operating_system_contention, lock_contention, ineligible or other; other holds idle waits.',
  COMMENT COLUMN `seconds` 'Time in the wait group, of all tasks together. [s; delta]',
  COMMENT COLUMN `waits` 'Waits that ended in the wait group. [waits; delta; null: not reported]',
  COMMENT COLUMN `tasks_avg` 'Tasks that were in the wait group, on average: seconds over the length of the interval. [tasks; gauge; null: interval_s is null]',
  COMMENT COLUMN `share_pct` 'Share of the time of the name in all wait groups. [%; percent; null: no time in any]';
