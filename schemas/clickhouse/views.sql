-- The views that people and panels read: each has FINAL inside, so that a replaced row never counts twice.
-- `envelope` in braces stands for the comments of ts, interval_s and system; a dataset with columns, as `pool: free_mb`,
-- for their comments there.

-- A record that was refused and landed later, published again by `counterflow deadletter replay`, counts as landed: its
-- dead letter no longer counts.
CREATE OR REPLACE VIEW counterflow.loss {on_cluster} AS
SELECT
  agent_id,
  bitmapMin(arrived) AS first_seq,
  bitmapMax(arrived) AS last_seq,
  bitmapCardinality(of_tables) AS landed,
  bitmapCardinality(arrived) - bitmapCardinality(of_tables) AS deadletters,
  last_seq - first_seq + 1 - bitmapCardinality(arrived) AS lost,
  row_count - landed AS repeated
FROM
(
  SELECT
    agent_id,
    sumIf(rows, dataset != 'deadletter') AS row_count,
    groupBitmapMergeStateIf(seqs, dataset != 'deadletter') AS of_tables,
    groupBitmapMergeState(seqs) AS arrived
  FROM counterflow.ledger
  -- without dead letters in which no agent and no seq could be read, and without what `look` read, numbered by file
  WHERE agent_id NOT IN ('unknown', 'no agent')
  GROUP BY agent_id
) AS rows_of_view
COMMENT 'Records lost between an agent and the tables, and rows that arrived more than once, by sequence number; records in flight count as lost until they have landed.';

ALTER TABLE counterflow.loss {on_cluster}
  COMMENT COLUMN `agent_id` 'Agent that published the records.',
  COMMENT COLUMN `first_seq` 'Smallest sequence number that arrived.',
  COMMENT COLUMN `last_seq` 'Largest sequence number that arrived.',
  COMMENT COLUMN `landed` 'Records that are in the tables. [records; delta]',
  COMMENT COLUMN `deadletters` 'Records that were refused on the way, are dead letters and in no other table. [records; delta]',
  COMMENT COLUMN `lost` 'Sequence numbers between the first and the last that are nowhere, including those of records in flight until they land. [records; gauge]',
  COMMENT COLUMN `repeated` 'Arrivals of records that had landed before, after a failed insert or a restart; each replaces the row that it repeats, so no query counts it twice. [records; gauge]';

-- Waits of the system and of groups of jobs: additive, so that a period is a sum over its rows.
CREATE VIEW IF NOT EXISTS counterflow.wait_profile {on_cluster} AS
SELECT
  ts, interval_s, system, grouping, name, wait_group, seconds, waits,
  seconds / nullIf(interval_s, 0) AS tasks_avg,
  100 * seconds / nullIf(arraySum(group_seconds), 0) AS share_pct
FROM
(
  SELECT
    w.ts AS ts, max(w.interval_s) AS interval_s, w.system AS system, grouping, assumeNotNull(group_name) AS name,
    sumForEach([
      dispatched_cpu_s, cpu_queueing_s, disk_s, journaling_s, operating_system_contention_s, lock_contention_s,
      ineligible_s, other_s
    ]) AS group_seconds,
    sumForEach([
      dispatched_cpu_waits, cpu_queueing_waits, disk_waits, journaling_waits, operating_system_contention_waits,
      lock_contention_waits, ineligible_waits, other_waits
    ]) AS group_waits
  FROM counterflow.wait_signature AS w
  ARRAY JOIN
    if(task = '*', ['system'], ['subsystem', 'user', 'job', 'generic_job']) AS grouping,
    if(task = '*', ['*'], [subsystem, job_user, job_name, left(job_name, 6)]) AS group_name
  WHERE group_name IS NOT NULL
  GROUP BY ts, system, grouping, name
)
ARRAY JOIN
  [
    'dispatched_cpu', 'cpu_queueing', 'disk', 'journaling', 'operating_system_contention', 'lock_contention',
    'ineligible', 'other'
  ] AS wait_group,
  group_seconds AS seconds,
  group_waits AS waits
COMMENT 'Seconds and waits of the system, and by subsystem, user, job name and generic job, in each wait group over one interval; tasks_avg is the mean number of tasks in it (normalised time), share_pct its share of the time of the name.';

ALTER TABLE counterflow.wait_profile {on_cluster}
  {envelope},
  COMMENT COLUMN `grouping` 'What the time is grouped by: system (all of it), subsystem, user, job (name) or generic_job (first six characters of the name). Each holds the same time again.',
  COMMENT COLUMN `name` 'Name of the group; * for the system.',
  COMMENT COLUMN `wait_group` 'One of dispatched_cpu, cpu_queueing, disk, journaling, operating_system_contention, lock_contention, ineligible or other; other holds idle waits.',
  COMMENT COLUMN `seconds` 'Time in the wait group, of all tasks together. [s; delta]',
  COMMENT COLUMN `waits` 'Waits that ended in the wait group. [waits; delta; null: not reported]',
  COMMENT COLUMN `tasks_avg` 'Tasks that were in the wait group, on average: seconds over the length of the interval. [tasks; gauge; null: interval_s is null]',
  COMMENT COLUMN `share_pct` 'Share of the time of the name in all wait groups. [%; percent; null: no time in any]';

-- Three arrays of numbers per interval: one array of tuples, sorted, gave the same figures in twice the time.
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
      -- an array leaves nulls out
      arraySort((one, bucket) -> bucket, groupArray(coalesce(b.upper_us, inf)), buckets) AS uppers_us,
      arraySum(counts) AS operations,
      sum(b.response_ms) / nullIf(operations, 0) AS mean_ms
    FROM counterflow.disk_bucket AS b FINAL
    WHERE b.operations IS NOT NULL
    GROUP BY ts, system, disk, operation
  )
) AS rows_of_view
COMMENT 'Mean and 95th percentile of the response time of the reads, writes or all operations of one disk over one interval.';

ALTER TABLE counterflow.disk_latency {on_cluster}
  {envelope},
  {disk_bucket: disk operation},
  COMMENT COLUMN `operations` 'Operations of the interval. [operations; delta]',
  COMMENT COLUMN `mean_ms` 'Mean response time. Over a period weight it by operations. [ms; gauge; null: no operations or no response time]',
  COMMENT COLUMN `p95_ms` 'Response time that 95 % of the operations do not exceed; never average it. [ms; gauge; null: no operations, boundaries not known, or it lies in the last bucket, which has no upper boundary]';

-- Processors that the I/O of a disk would take if it were virtual. Power Systems Performance Capabilities Reference:
-- virtual SCSI   6.6.1: transactions/s x time of one / 1,000,000. The table calls the times milliseconds; the divisor and
--                its example (10,000 reads/s of 16 KB take .34 processors) make them microseconds. Between two sizes the
--                time is interpolated; below 4 KB it is that of 4 KB; above 256 KB the table ends and it is null.
-- iSCSI          17.6: CPW for 1,000 operations/s, 230 with a hardware target, 275 with a software target.
CREATE VIEW IF NOT EXISTS counterflow.virtual_io {on_cluster} AS
WITH
  [4., 8, 16, 32, 64, 128, 256] AS sizes,
  [[16., 22, 34, 57, 92, 163, 314], [21., 26, 36, 54, 82, 148, 282]] AS read_and_write_us,
  arrayMap(kb -> if(kb <= 256, greatest(kb, 4.), NULL), [kb_per_read, kb_per_write]) AS in_table, -- greatest() leaves a null out
  arrayMap(kb -> greatest(arrayFirstIndex(size -> size >= kb, sizes), 2), in_table) AS above,
  arrayMap(
    (kb, i, us) -> us[i - 1] + (us[i] - us[i - 1]) * (kb - sizes[i - 1]) / (sizes[i] - sizes[i - 1]),
    in_table, above, read_and_write_us
  ) AS microseconds
SELECT
  ts, interval_s, system, disk, reads_per_s, writes_per_s,
  1024 * read_mb / nullIf(reads_per_s * interval_s, 0) AS kb_per_read,
  1024 * written_mb / nullIf(writes_per_s * interval_s, 0) AS kb_per_write,
  microseconds[1] AS read_us,
  microseconds[2] AS write_us,
  if(reads_per_s = 0, 0, reads_per_s * read_us / 1e6) + if(writes_per_s = 0, 0, writes_per_s * write_us / 1e6)
    AS virtual_scsi_processors,
  transfers_per_s * 230 / 1000 AS iscsi_hardware_target_cpw,
  transfers_per_s * 275 / 1000 AS iscsi_software_target_cpw
FROM counterflow.disk_load
WHERE leaf
COMMENT 'What the I/O of a leaf disk over one interval would cost a virtual SCSI server (processors of 2.2 GHz POWER5) or an iSCSI host (CPW).';

ALTER TABLE counterflow.virtual_io {on_cluster}
  {envelope},
  COMMENT COLUMN `disk` 'Name of the leaf disk.',
  {disk_load: reads_per_s writes_per_s},
  COMMENT COLUMN `kb_per_read` 'Mean size of a read, KB of 1024 bytes. [KB; gauge; null: no reads or size not reported]',
  COMMENT COLUMN `kb_per_write` 'Mean size of a write, KB of 1024 bytes. [KB; gauge; null: no writes or size not reported]',
  COMMENT COLUMN `read_us` 'Processor time of a virtual read of that size, on one 2.2 GHz POWER5 processor. [µs; gauge; null: size not known or above 256 KB]',
  COMMENT COLUMN `write_us` 'Processor time of a virtual write of that size, on one 2.2 GHz POWER5 processor. [µs; gauge; null: size not known or above 256 KB]',
  COMMENT COLUMN `virtual_scsi_processors` 'Processors of 2.2 GHz POWER5 that the virtual SCSI server would need. [processors; gauge; null: a time of an operation is not known]',
  COMMENT COLUMN `iscsi_hardware_target_cpw` 'CPW that an iSCSI host with a hardware target would need. [CPW; gauge; null: transfers not reported]',
  COMMENT COLUMN `iscsi_software_target_cpw` 'CPW that an iSCSI host with a software target would need. [CPW; gauge; null: transfers not reported]';

-- The commands of footprint with the part of Q Replication that each belongs to, one row per command: additive figures
-- need no sum at each instant first, which over months is more than a query may hold.
-- nmon truncates long names, so beginnings count: asnqcap, asnqapp (Q Capture, Q Apply), amq..., runmq... (IBM MQ: queue
-- managers, channels, listeners), db2fmp (fenced routines: a workload of stored procedures), db2... (the engine, db2sysc,
-- and its helpers).
CREATE OR REPLACE VIEW counterflow.component_process {on_cluster} AS
SELECT
  f.ts AS ts, f.interval_s AS interval_s, f.system AS system, f.command AS command,
  multiIf(
    startsWith(command, 'asnqcap'), 'Q Capture',
    startsWith(command, 'asnqapp'), 'Q Apply',
    startsWith(command, 'amq') OR startsWith(command, 'runmq'), 'MQ',
    startsWith(command, 'db2fmp'), 'Db2 fenced',
    startsWith(command, 'db2'), 'Db2',
    'other'
  ) AS component,
  f.cpu_base AS cpu_base, f.processes AS processes, f.cpu_ms AS cpu_ms, f.cpu_cores AS cpu_cores, f.memory_mb AS memory_mb
FROM counterflow.footprint AS f
COMMENT 'What a command uses on one system over one interval, and the part of Q Replication that it belongs to.';

ALTER TABLE counterflow.component_process {on_cluster}
  {envelope},
  {footprint: command cpu_base processes cpu_ms cpu_cores memory_mb},
  COMMENT COLUMN `component` 'Q Capture, Q Apply, MQ, Db2, Db2 fenced, or other.';

-- One figure for how busy a system's processors are, whatever it runs and however its recorder reports it.
CREATE VIEW IF NOT EXISTS counterflow.processor_load {on_cluster} AS
SELECT
  c.ts AS ts, c.interval_s AS interval_s, c.system AS system, c.engine_type AS engine_type,
  multiIf(
    c.busy_pct IS NOT NULL, c.busy_pct,
    c.cpu_base = 'logical', c.user_pct + c.sys_pct,
    entitled_pct
  ) AS busy_pct,
  coalesce(
    c.cpu_ms / 1000 / nullIf(c.interval_s, 0),
    c.physical_consumed_cores,
    busy_pct / 100 * c.logical_engines -- of what is entitled only where consumption is known
  ) AS processors,
  c.entitled_cores AS entitled_cores,
  c.physical_consumed_cores AS consumed_cores,
  100 * c.physical_consumed_cores / nullIf(c.entitled_cores, 0) AS entitled_pct
FROM counterflow.system_cpu AS c FINAL
WHERE c.engine = 'all'
COMMENT 'Processors of a system over one interval: busy_pct of what is configured (IBM i, above 100 where uncapped), online (z/OS), entitled (shared AIX partitions) or present (Linux), and the processors kept busy.';

ALTER TABLE counterflow.processor_load {on_cluster}
  {envelope},
  {system_cpu: engine_type entitled_cores},
  COMMENT COLUMN `busy_pct` 'How busy the processors were, of what is configured (IBM i), online (z/OS), entitled (shared AIX partitions) or present (Linux); above 100 where uncapped. [%; percent; null: not reported]',
  COMMENT COLUMN `processors` 'Processors kept busy, on average over the interval. [processors; gauge; null: not reported]',
  COMMENT COLUMN `consumed_cores` 'Physical processors that the partition consumed. [cores; gauge; null: not reported]',
  COMMENT COLUMN `entitled_pct` 'consumed_cores as a share of entitled_cores. [%; percent; null: one of them is null]';

-- What programs could still get of real memory: what is free, and the caches that the system gives up for them.
CREATE OR REPLACE VIEW counterflow.memory_use {on_cluster} AS
SELECT
  ts, interval_s, system, size_mb, free_mb, cached_mb, buffers_mb,
  if(
    process_pct IS NOT NULL, size_mb * (100 - process_pct - system_pct) / 100,
    free_mb + cached_mb + buffers_mb
  ) AS available_mb,
  if(available_mb > size_mb, 0, size_mb - available_mb) AS used_mb,
  100 * available_mb / nullIf(size_mb, 0) AS available_pct
FROM counterflow.pool FINAL
WHERE pool = 'memory'
COMMENT 'Real memory of a system with Linux or AIX at the end of an interval: what is used, and what is available.';

ALTER TABLE counterflow.memory_use {on_cluster}
  {envelope},
  {pool: size_mb free_mb cached_mb buffers_mb},
  COMMENT COLUMN `available_mb` 'Free memory, page cache and buffers (Linux); what neither processes nor the kernel hold (AIX). [MB of 1,048,576 bytes; gauge; null: a part is not reported]',
  COMMENT COLUMN `used_mb` 'What programs and the kernel hold: the memory that is not available. [MB of 1,048,576 bytes; gauge; null: size_mb or available_mb is null]',
  COMMENT COLUMN `available_pct` 'available_mb as a share of size_mb. [%; percent; null: one of them is null]';

-- nmon states how much is used of both; njmon and nimon count the inodes, and those that are free. Images are always
-- full and are left out: their paths name those of snaps, and the output of mount in an nmon recording names all others.
CREATE OR REPLACE VIEW counterflow.file_system_use {on_cluster} AS
SELECT
  ts, max(interval_s) AS interval_s, system, instance AS file_system,
  maxOrNullIf(value, section = 'JFSFILE' OR counter = 'fs_full_percent') AS used_pct,
  coalesce(
    maxOrNullIf(value, section = 'JFSINODE'),
    100 * (1 - maxOrNullIf(value, counter = 'fs_files_free') / nullIf(maxOrNullIf(value, counter = 'fs_files'), 0))
  ) AS inodes_used_pct
FROM counterflow.counter FINAL
WHERE section IN ('JFSFILE', 'JFSINODE')
  OR section = 'filesystems' AND counter IN ('fs_full_percent', 'fs_files', 'fs_files_free')
GROUP BY ts, system, file_system
HAVING NOT (ifNull(used_pct, 0) = 100 AND match(file_system, '^(/snap/|/var/lib/snapd/|/dev/loop)'))
  AND (system, file_system) NOT IN
  (
    SELECT system, extract(value, ' on (\\S+) type (?:iso9660|squashfs|udf) ')
    FROM counterflow.config
    WHERE section = 'BBBP' AND name = '/bin/mount'
  )
COMMENT 'How full each file system of Linux or AIX is at the end of an interval, by space and by inodes; images are left out.';

ALTER TABLE counterflow.file_system_use {on_cluster}
  {envelope},
  COMMENT COLUMN `file_system` 'Where the file system is mounted, or its name.',
  COMMENT COLUMN `used_pct` 'Space in use. [%; percent; null: not reported]',
  COMMENT COLUMN `inodes_used_pct` 'Inodes in use; without a free one it takes no new file. [%; percent; null: not reported, or it has no fixed number]';

CREATE VIEW IF NOT EXISTS counterflow.run_span {on_cluster} AS
SELECT
  if(part = max(part) OVER (PARTITION BY label), label, concat(label, ' ', formatDateTime(first_begin, '%Y-%m-%d %H:%i', 'UTC'))) AS run,
  system, begin_ts, end_ts, defined_by, first_begin AS run_begin_ts,
  begin_ts - toIntervalSecond(1) AS earliest_ts, coalesce(end_ts, now64(3, 'UTC')) + toIntervalSecond(1) AS latest_ts
FROM
(
  SELECT *, min(begin_ts) OVER (PARTITION BY label, part) AS first_begin
  FROM
  (
    SELECT
      label, part, system,
      -- of two entries of one name for one time, the newest counts; a label is as long as its recordings
      if(countIf(by = 'site file') > 0, argMaxIf(begins, stated_at, by = 'site file'), min(begins)) AS begin_ts,
      if(countIf(by = 'site file') > 0, argMaxIf(tuple(ends), stated_at, by = 'site file').1, max(ends)) AS end_ts,
      if(countIf(by = 'site file') > 0, 'site file', 'label') AS defined_by
    FROM
    (
      SELECT
        *, sum(begins > reached + INTERVAL 1 HOUR AND place > 1)
          OVER (PARTITION BY label ORDER BY begins, place ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS part
      FROM
      (
        SELECT
          *, row_number() OVER one AS place,
          max(coalesce(ends, toDateTime64('2200-01-01 00:00:00', 3, 'UTC')))
            OVER (PARTITION BY label ORDER BY begins, system, by ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS reached
        FROM
        (
          SELECT
            run AS label, system, toDateTime64(min(first_ts), 3, 'UTC') AS begins,
            toNullable(toDateTime64(max(last_ts), 3, 'UTC')) AS ends, 'label' AS by, begins AS stated_at
          FROM counterflow.system_dataset
          WHERE run != ''
          GROUP BY run, system, day
          UNION ALL
          SELECT
            item AS label, system,
            ts + toIntervalMillisecond(toUInt64(1000 * coalesce(max(if(name = 'warm_up_s', toFloat64OrNull(value), NULL)), 0))) AS begins,
            max(if(name = 'end', parseDateTime64BestEffortOrNull(value, 3, 'UTC'), NULL)) AS ends, 'site file' AS by, ts AS stated_at
          FROM counterflow.config FINAL
          WHERE section = 'run'
          GROUP BY item, system, ts
        )
        WINDOW one AS (PARTITION BY label ORDER BY begins, system, by)
      )
    )
    GROUP BY label, part, system
  )
) AS rows_of_view
COMMENT 'When each measurement run began and ended on each system, without its warm-up; end_ts is null where it goes on, run_begin_ts is when it began on the first of them. Of runs of one name on different days, more than an hour apart, the newest has the name, those before it the name and when they began. An entry of the site file takes precedence over a label of recordings.';

ALTER TABLE counterflow.run_span {on_cluster}
  COMMENT COLUMN `run` 'Name of the run, or its label.',
  COMMENT COLUMN `system` 'Name of the system.',
  COMMENT COLUMN `begin_ts` 'When it began on the system, its warm-up left out, UTC.',
  COMMENT COLUMN `end_ts` 'When it ended on the system, UTC. [null: it goes on]',
  COMMENT COLUMN `defined_by` 'site file, or label of recordings.',
  COMMENT COLUMN `run_begin_ts` 'When it began on the first of its systems, UTC.',
  COMMENT COLUMN `earliest_ts` 'When an interval of the run begins at the earliest: recorders are late by up to a second.',
  COMMENT COLUMN `latest_ts` 'When an interval of the run ends at the latest: likewise, or now where the run goes on.';

-- Units of work between a sample and the one before it, however the source counts; closing summaries are left out.
CREATE VIEW IF NOT EXISTS counterflow.work_done {on_cluster} AS
SELECT
  w.ts AS ts,
  if(w.prev_ts IS NULL, w.interval_s, dateDiff('millisecond', w.prev_ts, w.ts) / 1000) AS interval_s,
  w.system AS system, w.workload AS workload, w.run_id AS run_id, w.unit_of_work AS unit_of_work,
  w.operation AS operation,
  if(w.prev_done IS NULL, w.done_delta, w.done - w.prev_done) AS units,
  w.failed AS failed, w.users AS users, w.response_ms AS response_ms, w.response_max_ms AS response_max_ms,
  w.response_p50_ms AS response_p50_ms, w.response_p95_ms AS response_p95_ms, w.response_p99_ms AS response_p99_ms
FROM counterflow.workload AS w FINAL
WHERE NOT ifNull(w.final, false)
COMMENT 'Units of work that a workload did over one interval, with its response times; operation is empty for all kinds together.';

ALTER TABLE counterflow.work_done {on_cluster}
  COMMENT COLUMN `ts` 'End of the interval, UTC.',
  COMMENT COLUMN `interval_s` 'Time since the preceding sample; for sources that count by interval, its length. [s; gauge; null: not known]',
  COMMENT COLUMN `system` 'Name of the system.',
  {workload: workload unit_of_work operation failed users response_max_ms response_p50_ms response_p95_ms response_p99_ms},
  COMMENT COLUMN `run_id` 'Execution of the workload; empty where the source names none.',
  COMMENT COLUMN `units` 'Units of work done in the interval. [units of work; delta; null: first sample, or not reported]',
  COMMENT COLUMN `response_ms` 'Mean response time of the interval; weight it by units. [ms; gauge; null: not reported]';

-- Views with parameters, which are known before a row is read, so that no more is read than they select.

-- Spells of a state, from the verdicts of a range alone: finding where each spell begins would take all verdicts there ever
-- were.
CREATE OR REPLACE VIEW counterflow.verdict_spell_within {on_cluster} AS
SELECT
  rule, system, entity_type, entity, state,
  since - toIntervalMillisecond(toUInt64(1000 * coalesce(argMin(interval_s, ts), 0))) AS begin_ts,
  min(ts) - toIntervalMillisecond(toUInt64(1000 * coalesce(argMin(interval_s, ts), 0))) AS start_ts,
  start_ts - toIntervalMillisecond(toUInt64(1000 * coalesce(argMin(interval_s, ts), 0) * (greatest(
    1, JSONExtractUInt(evidence, 'figures', 'raising'), JSONExtractUInt(evidence, 'figures', 'near_in_a_row')
  ) - 1))) AS onset_ts,
  max(ts) AS end_ts,
  count() AS intervals,
  countIf(stale) AS stale_intervals,
  max(interval_s) AS longest_s,
  argMin(v.reason, v.ts) AS reason,
  argMin(v.evidence, v.ts) AS evidence
FROM counterflow.verdict AS v FINAL
WHERE v.ts > {since:DateTime64(3)} AND v.ts <= {until:DateTime64(3)}
GROUP BY rule, system, entity_type, entity, state, since
COMMENT 'Spells of a state within a range, verdict_spell_within(since = ..., until = ...): from start_ts, the beginning of its first interval there, to end_ts, the end of its last; begin_ts is when it began, even before the range, onset_ts when the signal that raised it did, longest_s the length of its longest interval; reason and evidence are those of the first.';

-- Changes that the site file dates, and those that intervals show: the capacity of a link, the path of a log.
CREATE OR REPLACE VIEW counterflow.config_change_within {on_cluster} AS
SELECT ts, system, item, if(section = 'change', value, concat(name, ' ', before, ' → ', value)) AS what
FROM
(
  SELECT
    ts, system, section, item, name, value,
    lagInFrame(value) OVER one AS before, row_number() OVER one AS place
  FROM counterflow.config FINAL
  WHERE section IN ('log_ceiling', 'port', 'change') AND ts <= {until:DateTime64(3)}
  WINDOW one AS (PARTITION BY system, section, item, name ORDER BY ts ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)
)
WHERE ts > {since:DateTime64(3)} AND (section = 'change' OR (place > 1 AND value != before))
UNION ALL
SELECT ts, system, link AS item, concat('capacity ', toString(before), ' → ', toString(capacity_pct), ' %') AS what
FROM
(
  SELECT
    ts, system, link, assumeNotNull(l.capacity_pct) AS capacity_pct,
    lagInFrame(assumeNotNull(l.capacity_pct)) OVER one AS before, row_number() OVER one AS place
  FROM counterflow.link_load AS l FINAL
  WHERE l.ts > {since:DateTime64(3)} AND l.ts <= {until:DateTime64(3)} AND isNotNull(l.capacity_pct)
  WINDOW one AS (PARTITION BY system, link_type, link ORDER BY ts ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)
)
WHERE place > 1 AND capacity_pct != before
UNION ALL
SELECT ts, system, subsystem AS item, concat('path ', before, ' → ', path) AS what
FROM
(
  SELECT
    ts, system, subsystem, assumeNotNull(l.path) AS path,
    lagInFrame(assumeNotNull(l.path)) OVER one AS before, row_number() OVER one AS place
  FROM counterflow.log_load AS l FINAL
  WHERE l.ts > {since:DateTime64(3)} AND l.ts <= {until:DateTime64(3)} AND isNotNull(l.path)
  WINDOW one AS (PARTITION BY system, subsystem ORDER BY ts ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)
)
WHERE place > 1 AND path != before
COMMENT 'Changes of configuration within a range, config_change_within(since = ..., until = ...): entries of the site file that differ from the one before, its changes, the capacity of a link and the path of a log; item is what changed.';

CREATE OR REPLACE VIEW counterflow.unanswered_message_within {on_cluster} AS
SELECT
  s.system AS system, splitByChar(' ', s.instance)[1] AS queue, any(s.value) / 60 AS age_min,
  nullIf(argMaxIf(c.value, c.ts, c.name = 'MESSAGE_ID'), '') AS message_id,
  nullIf(argMaxIf(c.value, c.ts, c.name = 'FROM_JOB'), '') AS waiting_job,
  nullIf(argMaxIf(c.value, c.ts, c.name = 'MESSAGE_TEXT'), '') AS text,
  s.ts AS sampled_at
FROM counterflow.counter AS s FINAL
LEFT JOIN counterflow.config AS c FINAL ON c.system = s.system AND c.section = s.section AND c.item = s.instance
WHERE s.section = 'MESSAGE_QUEUE_INFO' AND s.counter = 'AGE' AND NOT endsWith(s.instance, ' *NONE') AND (s.system, s.ts) IN
(
  SELECT system, max(ts) FROM counterflow.counter
  WHERE section = 'MESSAGE_QUEUE_INFO' AND counter = 'AGE' AND ts > {since:DateTime64(3)} AND ts <= {until:DateTime64(3)}
    AND (empty({systems:Array(String)}) OR has({systems:Array(String)}, system))
  GROUP BY system
)
GROUP BY system, s.instance, sampled_at
COMMENT 'Inquiry messages of IBM i without a reply at the newest sample of a range, unanswered_message_within(since = ..., until = ..., systems = [...], empty for all), with the job that waits.';

-- The tables by hour are computed again until no row arrives late: only the newest computation counts.
CREATE OR REPLACE VIEW counterflow.metric_hour {on_cluster} AS
SELECT metric, system, instance, ts, n, total, lo, hi
FROM counterflow.metric_1h FINAL
WHERE n > 0
COMMENT 'Every metric by hour: sum(total) / sum(n) is the mean, min(lo) and max(hi) the extremes.';

ALTER TABLE counterflow.metric_hour {on_cluster}
  COMMENT COLUMN `metric` 'dataset.column, or counter.section.counter.',
  COMMENT COLUMN `system` 'Name of the system.',
  COMMENT COLUMN `instance` 'Measured object; several key columns are joined by a slash.',
  COMMENT COLUMN `ts` 'End of the hour, UTC.',
  COMMENT COLUMN `n` 'Values in the hour. [values; gauge]',
  COMMENT COLUMN `total` 'Their sum. [as the metric; gauge]',
  COMMENT COLUMN `lo` 'The smallest. [as the metric; gauge]',
  COMMENT COLUMN `hi` 'The largest. [as the metric; gauge]';

-- A counter at the resolution of the points shown: every value, or by hour where a point is an hour or more.
CREATE OR REPLACE VIEW counterflow.metric_rollup {on_cluster} AS
SELECT ts, system, instance, toUInt64(1) AS n, value AS total, value AS lo, value AS hi
FROM counterflow.metric_value(metric = {metric:String})
WHERE {bucket_s:UInt32} < 3600
UNION ALL
SELECT ts, system, instance, n, total, lo, hi FROM counterflow.metric_hour
WHERE {bucket_s:UInt32} >= 3600 AND metric = {metric:String}
COMMENT 'Every value of a metric, or by hour where points of bucket_s are an hour or more, metric_rollup(metric = ..., bucket_s = ...). Always aggregate again when reading: sum(total) / sum(n) is the mean, min(lo) and max(hi) the extremes.';

-- Jobs and threads of IBM i, each with the name of its group by one grouping.
CREATE OR REPLACE VIEW counterflow.job_by {on_cluster} AS
SELECT
  ts, interval_s, system, assumeNotNull(group_name) AS name, job, cpu_ms, sql_cpu_ms,
  logical_reads + logical_writes + logical_other AS logical_io,
  if(logical_io IS NULL, NULL, logical_reads) AS reads,
  if(logical_io IS NULL, NULL, logical_reads - logical_reads_for_update) AS read_only,
  if(logical_io IS NULL, NULL, logical_reads_for_update) AS read_for_update,
  if(logical_io IS NULL OR logical_reads_for_update IS NOT NULL, NULL, logical_reads) AS reads_not_parted,
  if(logical_io IS NULL, NULL, logical_writes) AS inserts,
  if(logical_io IS NULL, NULL, logical_other) AS other,
  NOT ifNull(commits + rollbacks <= other, false) AS commits_counted_in,
  logical_io - if(commits_counted_in, 0, commits + rollbacks) AS row_operations,
  commits, rollbacks, record_locks, job_type,
  sync_db_reads + sync_nondb_reads AS sync_reads,
  sync_db_writes + sync_nondb_writes AS sync_writes,
  async_db_reads + async_nondb_reads AS async_reads,
  async_db_writes + async_nondb_writes AS async_writes,
  page_faults, transactions,
  if(j.transactions IS NULL, NULL, j.response_s) AS response_s,
  if(j.response_s IS NULL, NULL, j.transactions) AS timed_transactions
FROM (SELECT *, {group_name} AS group_name FROM counterflow.job FINAL WHERE source = 'ibmi_tables') AS j
WHERE group_name IS NOT NULL
COMMENT 'Jobs and threads of IBM i, rows of job, each with its group, job_by(grouping = ...): thread, job, generic_job (first six characters of its name), user, subsystem, pool or job_type. Logical I/O is null where a part of it is not counted; timed_transactions are those that response_s is of; reads_not_parted are reads that the source does not separate into those for update and others.';

CREATE OR REPLACE VIEW counterflow.component_footprint {on_cluster} AS
SELECT
  ts, max(p.interval_s) AS interval_s, system, component, cpu_base, sum(p.processes) AS processes, sum(p.cpu_ms) AS cpu_ms,
  sum(p.cpu_cores) AS cpu_cores, sum(p.memory_mb) AS memory_mb
FROM counterflow.component_process AS p
GROUP BY ts, system, component, cpu_base
COMMENT 'What Q Replication, MQ, Db2 and all else use on one system over one interval: the processes of footprint by component.';

ALTER TABLE counterflow.component_footprint {on_cluster}
  {envelope},
  COMMENT COLUMN `component` 'Q Capture, Q Apply, MQ, Db2 fenced, Db2 or other, by the beginning of the command.',
  COMMENT COLUMN `cpu_base` 'Processors that cpu_ms is time of: logical or physical. [null: not known]',
  COMMENT COLUMN `processes` 'Processes. [processes; gauge]',
  COMMENT COLUMN `cpu_ms` 'Processor time. [ms; delta; null: not reported]',
  COMMENT COLUMN `cpu_cores` 'Processors kept busy, on average over the interval. [processors; gauge; null: not reported]',
  COMMENT COLUMN `memory_mb` 'Memory at the end of the interval. [MB; gauge; null: not reported]';

-- Logical database I/O of groups of jobs: from io_mix where it has the grouping, else from the rows of jobs.
CREATE OR REPLACE VIEW counterflow.io_by {on_cluster} AS
SELECT
  ts, interval_s, system, toString(name) AS name, logical_io, reads, read_only, read_for_update,
  if(split = 'three-way', reads, NULL) AS reads_not_parted, inserts, other, row_operations,
  exposure_pct * row_operations / 100 AS exposed, modify_basis = 'with_commits' AS commits_counted_in
FROM counterflow.io_mix FINAL
WHERE grouping = {grouping:String}
UNION ALL
SELECT
  ts, interval_s, system, toString(name) AS name, logical_io, reads, read_only, read_for_update, reads_not_parted,
  inserts, other, row_operations, row_operations - reads + coalesce(read_for_update, 0) AS exposed, commits_counted_in
FROM counterflow.job_by(grouping = {grouping:String})
WHERE {grouping:String} IN ('thread', 'pool', 'job_type')
COMMENT 'Logical database I/O of groups of jobs of IBM i by interval, io_by(grouping = ...); groupings as in job_by, and partition. exposed is what mirroring would touch: inserts, updates and deletes, and reads for update where they are known; commits too where commits_counted_in.';

-- How long the tasks of groups of jobs run and wait.
CREATE OR REPLACE VIEW counterflow.wait_by {on_cluster} AS
SELECT *, assumeNotNull({group_name}) AS name
FROM counterflow.wait_signature
WHERE task != '*' AND {group_name} IS NOT NULL
COMMENT 'Seconds that single tasks of IBM i ran and waited, rows of wait_signature, each with its group, wait_by(grouping = ...): as in job_by. held_up_s are the seconds in all groups that hold work up.';

-- Whole hours are read by hour where a point is an hour or more; `look` without --keep computes none.
CREATE OR REPLACE VIEW counterflow.wait_within {on_cluster} AS
WITH
  toStartOfHour({since:DateTime64(3)} + toIntervalMillisecond(3599999)) AS first,
  if({bucket_s:UInt32} < 3600, first, least(toStartOfHour({until:DateTime64(3)}), (SELECT max(ts) FROM counterflow.wait_1h))) AS last
SELECT
  ts, system, name, dispatched_cpu_s, cpu_queueing_s, disk_s, journaling_s, operating_system_contention_s,
  lock_contention_s, ineligible_s, other_s, held_up_s
FROM counterflow.wait_by(grouping = {grouping:String})
WHERE ts > {since:DateTime64(3)} AND ts <= {until:DateTime64(3)} AND NOT (ts > first AND ts <= last)
UNION ALL
SELECT
  ts, system, assumeNotNull({group_name}) AS name, dispatched_cpu_s, cpu_queueing_s, disk_s, journaling_s,
  operating_system_contention_s, lock_contention_s, ineligible_s, other_s, held_up_s
FROM counterflow.wait_1h FINAL
WHERE ts > first AND ts <= last AND intervals > 0 AND name != ''
COMMENT 'Seconds that tasks of IBM i ran and waited within a range, each row with its group, wait_within(grouping = ..., since = ..., until = ..., bucket_s = ...): as in job_by. Where points of bucket_s are an hour or more, rows are those of whole hours, and of the intervals before and after these.';

-- What mirroring would cost jobs. Source of the 10 µs per km and round trip, and of two round trips per row change:
-- IBM Db2 Mirror for i: Performance Considerations, 3.4. That source counts none for a lock, which takes at least one.
CREATE OR REPLACE VIEW counterflow.mirror_cost {on_cluster} AS
WITH
  -- a task of a job over an interval
  work AS
  (
    SELECT
      system, name AS job, ts, interval_s, reads, read_for_update AS for_update, inserts,
      row_operations - reads - inserts AS updates, commits, rollbacks, commits_counted_in, record_locks, job_type
    FROM counterflow.job_by(grouping = 'job')
    WHERE logical_io IS NOT NULL AND ts > {since:DateTime64(3)} AND ts <= {until:DateTime64(3)}
  )
SELECT
  j.system AS system, j.job AS job, d.days AS days,
  own.km AS line_km,
  0.01 * line_km AS lock_ms, 0.02 * line_km AS change_ms,
  j.reads / d.days AS reads_a_day,
  j.for_update / d.days AS reads_for_update_a_day,
  j.inserts / d.days AS inserts_a_day,
  j.updates / d.days AS updates_a_day,
  if(j.for_update < j.updates, 0, j.for_update - j.updates) / d.days AS unneeded_a_day, -- greatest() would leave a null out
  (j.inserts + j.updates) / d.days AS changes_a_day,
  a.changes / d.days AS serial_changes_a_day,
  a.busiest_per_s AS serial_busiest_per_s,
  j.commits / d.days AS commits_a_day,
  j.rollbacks / d.days AS rollbacks_a_day,
  if(j.commits_counted_in, NULL, (j.inserts + j.updates) / nullIf(j.commits, 0)) AS changes_per_commit,
  coalesce(l.record_locks, j.record_locks) AS record_locks_max,
  w.waited_s / d.days AS lock_wait_s_a_day,
  j.is_batch AS is_batch,
  multiIf(
    line_km IS NULL, 'the length of the line is not known: mirrors in the site file, or label mirror_distance_km of the source',
    j.for_update IS NULL, 'the release does not count reads for update',
    NULL
  ) AS reason
FROM
(
  SELECT
    system, job, sum(t.reads) AS reads,
    if(countIf(t.reads IS NOT NULL AND t.for_update IS NULL) > 0, NULL, sum(t.for_update)) AS for_update,
    sum(t.inserts) AS inserts, sum(t.updates) AS updates, sum(t.commits) AS commits, sum(t.rollbacks) AS rollbacks,
    max(t.commits_counted_in) AS commits_counted_in, max(t.record_locks) AS record_locks,
    max(coalesce(t.job_type = 'B', false)) AS is_batch
  FROM work AS t
  GROUP BY system, job
) AS j
LEFT JOIN
(
  -- where one task alone changed rows; jobs of one generic name are one piece of work that is split already
  SELECT system, who AS job, sum(t.amount) AS changes, max(t.amount / nullIf(t.seconds, 0)) AS busiest_per_s
  FROM
  (
    SELECT system, any(job) AS who, any(inserts + updates) AS amount, any(interval_s) AS seconds
    FROM work
    WHERE inserts + updates > 0
    GROUP BY system, ts, left(work.job, 6)
    HAVING count() = 1
  ) AS t
  GROUP BY system, who
) AS a ON a.system = j.system AND a.job = j.job
LEFT JOIN
(
  SELECT system, job, max(held) AS record_locks
  FROM (SELECT system, job, sum(record_locks) AS held FROM work WHERE record_locks > 0 GROUP BY system, job, ts)
  GROUP BY system, job
) AS l ON l.system = j.system AND l.job = j.job
INNER JOIN
(
  -- less than a day counts as one: a recording of one busy hour is not multiplied by 24
  SELECT system, greatest(sum(interval_s) / 86400, 1) AS days
  FROM counterflow.job_cpu
  WHERE grouping = 'partition' AND ts > {since:DateTime64(3)} AND ts <= {until:DateTime64(3)}
  GROUP BY system
) AS d ON d.system = j.system
LEFT JOIN
(
  SELECT system, argMax(toFloat64OrNull(value), ts) AS km FROM counterflow.config FINAL
  WHERE (section, name) IN (('mirror', 'distance_km'), ('labels', 'mirror_distance_km')) GROUP BY system
) AS own ON own.system = j.system
LEFT JOIN
(
  SELECT system, name AS job, toNullable(sum(lock_contention_s)) AS waited_s
  FROM counterflow.wait_within(grouping = 'job', since = {since:DateTime64(3)}, until = {until:DateTime64(3)}, bucket_s = 3600)
  GROUP BY system, job
) AS w ON w.system = j.system AND w.job = j.job
COMMENT 'What mirroring would cost the jobs of IBM i of one name a day, mirror_cost(since = ..., until = ...): operations a day of what was recorded (less than a day counts as one), and the milliseconds that the line adds to a lock (one round trip, at least) and to a row change (two). updates include force end of data and releases, and commits where changes_per_commit is null, so unneeded (reads for update that no update or delete follows) is a lower bound. serial are changes in intervals in which one task alone of its generic name (first six characters) changed rows; serial_busiest_per_s is the highest rate of these. Logical I/O counts blocks under sequential-only.';

-- Figures of two measurement runs, each over its whole length, and how they differ.
CREATE OR REPLACE VIEW counterflow.run_figure {on_cluster} AS
WITH
  -- arrays: a named query would be read again wherever it is named
  (
    SELECT groupArray((toString(run), toString(system), begin_ts, earliest_ts, latest_ts))
    FROM counterflow.run_span
    WHERE run IN ({baseline:String}, {scenario:String})
  ) AS spans,
  runs AS
  (
    SELECT
      arrayJoin(spans) AS span, span.1 AS run, span.2 AS system, span.3 AS begin_ts, span.4 AS earliest_ts, span.5 AS latest_ts
  ),
  (
    SELECT groupArray((number, run, thing, kind, amount, weight))
    FROM
    (
      SELECT number, run, system, thing, any(of_kind) AS kind, sum(counted) AS amount, sum(weighed) AS weight
      FROM
      (
        SELECT * FROM
        (
          SELECT
            1 AS number, system, ts, interval_s, toString(workload) AS thing, toString(unit_of_work) AS of_kind,
            toNullable(toFloat64(units)) AS counted, toNullable(toFloat64(interval_s)) AS weighed
          FROM counterflow.work_done
          WHERE operation = '' AND units IS NOT NULL
          UNION ALL
          SELECT 3, system, ts, interval_s, toString(engine_type), toString(engine_type), processors * interval_s, interval_s
          FROM counterflow.processor_load
          WHERE processors IS NOT NULL
          UNION ALL
          SELECT
            5, system, ts, interval_s, toString(subsystem), toString(coalesce(rate_basis, '')), rate_mb_s * interval_s,
            interval_s
          FROM counterflow.log_load FINAL
          WHERE rate_mb_s IS NOT NULL
          UNION ALL
          SELECT
            5 + place, system, ts, interval_s, '', '', [read_mb, written_mb, transfer_ms][place],
            [if(read_mb IS NULL, NULL, interval_s), if(written_mb IS NULL, NULL, interval_s), timed_transfers][place]
          FROM counterflow.disk_total
          ARRAY JOIN [1, 2, 3] AS place
        )
        WHERE system IN (SELECT system FROM runs) AND ts > (SELECT min(begin_ts) FROM runs)
          AND ts <= (SELECT max(latest_ts) FROM runs) AND interval_s > 0
      ) AS measured
      INNER JOIN runs USING (system)
      WHERE ts > begin_ts AND ts <= latest_ts AND ts >= earliest_ts + toIntervalMillisecond(toInt64(1000 * interval_s))
      GROUP BY number, run, system, thing
    )
  ) AS of_things,
  found AS
  (
    SELECT
      arrayJoin(of_things) AS one, one.1 AS number, one.2 AS run, one.3 AS thing, one.4 AS kind, one.5 AS amount,
      one.6 AS weight, amount / nullIf(weight, 0) AS rate
  ),
  done AS
  (
    -- units of several kinds cannot be added
    SELECT run, if(uniqExact(kind) = 1, any(kind), '') AS of_kind, if(of_kind = '', NULL, sum(rate)) AS per_s
    FROM found
    WHERE number = 1
    GROUP BY run
  ),
  used AS
  (
    SELECT run, thing AS engine_type, sum(rate) AS processors FROM found WHERE number = 3 GROUP BY run, engine_type
  )
SELECT
  number, figure, max(kind) AS of_kind, unit,
  maxIf(value, run = {baseline:String}) AS baseline,
  maxIf(value, run = {scenario:String}) AS scenario,
  if(uniqExact(kind) > 1, NULL, 100 * (scenario - baseline) / nullIf(baseline, 0)) AS difference_pct
FROM
(
  SELECT 1 AS number, run, 'Throughput' AS figure, of_kind AS kind, 'a second' AS unit, toNullable(per_s) AS value FROM done
  UNION ALL
  SELECT 3, run, 'Processors busy', engine_type, 'processors', processors FROM used
  UNION ALL
  SELECT
    4, used.run, concat('Processor time of a unit of work, ', engine_type), done.of_kind, 'ms',
    1000 * processors / nullIf(per_s, 0)
  FROM used INNER JOIN done ON done.run = used.run
  UNION ALL
  SELECT 5, run, 'Log rate', if(uniqExact(kind) = 1, any(kind), 'of several bases'), 'MB/s', sum(rate)
  FROM found
  WHERE number = 5
  GROUP BY run
  UNION ALL
  SELECT
    number, run, ['Read', 'Written', 'Disk response'][number - 5], '', ['MiB/s', 'MiB/s', 'ms'][number - 5],
    if(number = 8, sum(amount) / nullIf(sum(weight), 0), sum(rate))
  FROM found
  WHERE number > 5
  GROUP BY number, run
)
GROUP BY number, figure, unit, if(number = 3, kind, '')
COMMENT 'Figures of two runs, run_figure(baseline = ..., scenario = ...): means over the whole of each without its warm-up; difference_pct is in percent of the baseline. of_kind is the unit of work, the kind of processors, or the basis of the log rate. Throughput of several units of work is null, since they cannot be added, and so is the difference of runs of two kinds.';

-- What fills up, by day, as a share of what there is. Processors are busy for minutes in any day, so theirs is the
-- busiest hour.
CREATE OR REPLACE VIEW counterflow.daily_peak_within {on_cluster} AS
SELECT
  kind, system, instance,
  toDate(toDateTime64(end_ts, 3, 'UTC') - toIntervalMillisecond(1)) AS day,
  max(used_pct) AS peak_pct
FROM
(
  SELECT 'file system' AS kind, system, instance, ts AS end_ts, hi AS used_pct
  FROM counterflow.metric_hour
  WHERE (startsWith(metric, 'counter.JFSFILE.') OR metric = 'counter.filesystems.fs_full_percent')
    AND ts > {since:DateTime64(3)} AND ts <= {until:DateTime64(3)}
  UNION ALL
  SELECT 'fullest disk', system, '', ts, hi
  FROM counterflow.metric_hour
  WHERE metric = 'disk.used_pct' AND ts > {since:DateTime64(3)} AND ts <= {until:DateTime64(3)}
  UNION ALL
  SELECT
    'entitlement', system, '', max(p.ts), 100 * sum(consumed_cores * interval_s) / sum(entitled_cores * interval_s)
  FROM counterflow.processor_load AS p
  WHERE entitled_pct IS NOT NULL AND interval_s > 0 AND p.ts > {since:DateTime64(3)} AND p.ts <= {until:DateTime64(3)}
  GROUP BY system, toStartOfHour(p.ts - toIntervalMillisecond(1))
  UNION ALL
  SELECT 'processors', system, engine_type, ts, busy_pct_s / seconds
  FROM counterflow.processor_load_1h FINAL
  WHERE seconds > 0 AND ts > {since:DateTime64(3)} AND ts <= {until:DateTime64(3)}
  UNION ALL
  SELECT 'memory', system, '', ts, 100 - available_pct
  FROM counterflow.memory_use
  WHERE available_pct IS NOT NULL AND ts > {since:DateTime64(3)} AND ts <= {until:DateTime64(3)}
  UNION ALL
  SELECT 'physical port', system, link, ts, phys_line_pct
  FROM counterflow.link_load FINAL
  WHERE phys_line_pct IS NOT NULL AND ts > {since:DateTime64(3)} AND ts <= {until:DateTime64(3)}
  UNION ALL
  SELECT 'log', system, subsystem, ts, ceiling_pct
  FROM counterflow.log_load FINAL
  WHERE ceiling_pct IS NOT NULL AND ts > {since:DateTime64(3)} AND ts <= {until:DateTime64(3)}
)
GROUP BY kind, system, instance, day
COMMENT 'The highest figure of each day as a share of what there is, daily_peak_within(since = ..., until = ...): space of file systems and of the fullest disk, the busiest hour of the processors of the entitlement and of what is present, memory, physical ports of links, logs of their ceiling. instance names what fills up, empty where a system has one.';

-- Theil and Sen's line through the daily peaks: the median of the slopes between all pairs of days, so that single days
-- do not decide. From five weeks on, what a day of the week usually lies beside that line is taken off, and the line is
-- drawn again. The interval of the slope is Sen's (M. Hollander, D. A. Wolfe, Nonparametric Statistical Methods, 9.3):
-- the slopes at the ranks (N -+ 1.645 sqrt(v n (n - 1) (2 n + 5) / 18)) / 2 of N = n (n - 1) / 2, 90 %. v is 1 where
-- days are independent; here (1 + r) / (1 - r), where r is how a day resembles the one before (S. Yue, C. Wang, 2004).
CREATE OR REPLACE VIEW counterflow.days_to_limit_within {on_cluster} AS
WITH
  28 AS least_days, 35 AS five_weeks, 90 AS most_days, 366 AS farthest_days, 1.645 AS z,
  (values, at) -> arraySort(arrayFlatten(arrayMap(
    (i, value, day) -> arrayMap(
      (later_value, later) -> (later_value - value) / (later - day), arraySlice(values, i + 1), arraySlice(at, i + 1)),
    arrayEnumerate(at), values, at))) AS slopes_of,
  numbers -> if(empty(numbers), 0, arrayReduce('medianExact', numbers)) AS median_of,
  by_day AS
  (
    SELECT
      kind, system, instance,
      arraySlice(arraySort(groupArray((toInt32(day), assumeNotNull(peak_pct)))), -most_days) AS points,
      length(points) AS n, points.1 AS days, points.2 AS peaks,
      toDate(days[1]) AS first_day, toDate(days[n]) AS last_day, peaks[n] AS latest
    FROM counterflow.daily_peak_within(since = {since:DateTime64(3)}, until = {until:DateTime64(3)})
    WHERE peak_pct IS NOT NULL
    GROUP BY kind, system, instance
  ),
  roughly AS (SELECT *, if(n < five_weeks, 0, median_of(slopes_of(peaks, days))) AS rough_slope FROM by_day),
  detrended AS (SELECT *, arrayMap((p, d) -> p - rough_slope * d, peaks, days) AS beside FROM roughly),
  seasonal AS
  (
    SELECT *, arrayMap(
      w -> median_of(arrayFilter((p, d) -> d % 7 = w, beside, days)) - median_of(beside), range(7)) AS of_weekday
    FROM detrended
  ),
  levelled AS
  (
    SELECT *, if(n < five_weeks, peaks, arrayMap((p, d) -> p - of_weekday[d % 7 + 1], peaks, days)) AS levels
    FROM seasonal
  ),
  sloping AS (SELECT *, slopes_of(levels, days) AS slopes, median_of(slopes) AS slope FROM levelled),
  based AS (SELECT *, median_of(arrayMap((p, d) -> p - slope * d, levels, days)) AS base FROM sloping),
  noisy AS (SELECT *, arrayMap((p, d) -> p - slope * d - base, levels, days) AS noise FROM based),
  bounded AS
  (
    SELECT
      *,
      length(slopes) AS pairs,
      arraySum(arrayMap((a, b) -> a * b, arraySlice(noise, 1, n - 1), arraySlice(noise, 2)))
        / arraySum(arrayMap(a -> a * a, noise)) AS resembles,
      if(resembles > 0, (1 + least(0.9, resembles)) / (1 - least(0.9, resembles)), 1) AS variance,
      toInt64(floor((pairs - z * sqrt(variance * n * (n - 1) * (2 * n + 5) / 18)) / 2)) AS rank,
      if(pairs = 0, 0, slopes[greatest(1, rank)]) AS slope_low,
      if(pairs = 0, 0, slopes[least(pairs, pairs - rank + 1)]) AS slope_high,
      base + slope * days[n] AS level_now,
      slope_low * days[n] + median_of(arrayMap((p, d) -> p - slope_low * d, levels, days)) AS level_low,
      slope_high * days[n] + median_of(arrayMap((p, d) -> p - slope_high * d, levels, days)) AS level_high
    FROM noisy
  ),
  -- grouped once more, since conditions that read a computed column would compute it again, each of them
  found AS
  (
    SELECT
      kind, system, instance, any(n) AS n, any(first_day) AS first_day, any(last_day) AS last_day, any(latest) AS latest,
      any(slope) AS slope, any(slope_low) AS slope_low, any(slope_high) AS slope_high, any(level_now) AS level_now,
      any(level_low) AS level_low, any(level_high) AS level_high
    FROM bounded
    GROUP BY kind, system, instance
  )
SELECT
  kind, system, instance, n AS days, first_day, last_day,
  round(level_now, 2) AS level_pct,
  if(n < least_days, NULL, round(slope, 5)) AS slope_pct_per_day,
  if(n < least_days, NULL, round(slope_low, 5)) AS slope_low_pct_per_day,
  if(n < least_days, NULL, round(slope_high, 5)) AS slope_high_pct_per_day,
  multiIf(
    latest >= 100, 'reached', n < least_days, 'too short', slope_low > 0, 'rising', slope_high < 0, 'falling', 'no trend'
  ) AS trend,
  if(trend = 'rising', greatest(0, ceil((100 - level_now) / slope)), NULL) AS days_to_limit,
  if(trend = 'rising', greatest(0, floor((100 - level_high) / slope_high)), NULL) AS days_to_limit_low,
  if(trend = 'rising', greatest(0, ceil((100 - level_low) / slope_low)), NULL) AS days_to_limit_high,
  multiIf(
    trend = 'too short', concat('too short: ', toString(n), ' of ', toString(least_days), ' days'),
    trend = 'reached', concat('reached: ', toString(round(latest, 1)), ' % on the newest day'),
    trend != 'rising', trend,
    days_to_limit > farthest_days, 'rising, in more than a year',
    concat('in ', toString(toUInt32(days_to_limit)), ' days (', toString(toUInt32(days_to_limit_low)), ' to ',
      if(days_to_limit_high > farthest_days, 'more than a year', toString(toUInt32(days_to_limit_high))), ')')
  ) AS answer
FROM found AS rows_of_view
COMMENT 'When what fills up reaches 100 % of what there is, days_to_limit_within(since = ..., until = ...): the robust trend of the daily peaks, with an interval of 90 %, from the newest 90 days of the range; answer says it in words.';

-- Batch jobs of IBM i, and what their elapsed time consists of: of each job its first thread, whose time in wait buckets
-- follows without a gap. A row states the end of its job to the second, or none; the begin follows from the time that
-- its buckets hold in its first interval. One job follows another that ended last, at most a minute before it began: a
-- minute is ours. A second more is allowed, since ends are whole seconds, and jobs of less than that are passed over.
CREATE OR REPLACE VIEW counterflow.batch_job_within {on_cluster} AS
WITH
  60 AS gap_s, 1 AS stamp_s,
  recorded AS
  (
    SELECT system, ts, interval_s AS seconds
    FROM counterflow.job_cpu
    WHERE grouping = 'partition' AND ts > {since:DateTime64(3)} AND ts <= {until:DateTime64(3)}
      AND (empty({systems:Array(String)}) OR has({systems:Array(String)}, system))
  ),
  -- a rerouted job has two rows in an interval: one that ended, one that started
  job_interval AS
  (
    SELECT
      system, ts, assumeNotNull(job_number) AS number, assumeNotNull(job_user) AS user, assumeNotNull(job_name) AS name,
      any(task) AS of_task, any(subsystem) AS of_subsystem, min(interval_s) AS lasted_s,
      countIf(coalesce(job_event, 'running') IN ('running', 'ended')) > 0 AS ran_before,
      countIf(coalesce(job_event, 'running') IN ('running', 'started')) > 0 AS runs_after
    FROM counterflow.job FINAL
    WHERE source = 'ibmi_tables' AND ts > {since:DateTime64(3)} AND ts <= {until:DateTime64(3)}
      AND (empty({systems:Array(String)}) OR has({systems:Array(String)}, system))
      -- prestart jobs serve others: their waits are for work
      AND job_type = 'B' AND coalesce(job_subtype, '') != 'J' AND coalesce(secondary_thread, false) = false
      AND coalesce(summarised_tasks, 0) = 0 AND job_number || job_user || job_name IS NOT NULL
    GROUP BY system, ts, number, user, name
  ),
  waited AS
  (
    SELECT
      system, ts, assumeNotNull(task) AS of_task, sum(wait_ms) / 1000 AS all_s,
      toNullable(ifNull(sumIf(wait_ms, wait_group = 'dispatched_cpu'), 0) / 1000) AS cpu,
      toNullable(ifNull(sumIf(wait_ms, wait_group = 'cpu_queueing'), 0) / 1000) AS cpu_queueing,
      toNullable(ifNull(sumIf(wait_ms, bucket = 5), 0) / 1000) AS faults,
      toNullable(ifNull(sumIf(wait_ms, bucket IN (7, 8)), 0) / 1000) AS disk_contention,
      toNullable(ifNull(sumIf(wait_ms, wait_group = 'disk'), 0) / 1000) - faults - disk_contention AS transfers,
      toNullable(ifNull(sumIf(wait_ms, wait_group IN ('lock_contention', 'operating_system_contention')), 0) / 1000) AS locks,
      toNullable(ifNull(sumIf(wait_ms, wait_group = 'journaling'), 0) / 1000) AS journal,
      toNullable(ifNull(sumIf(wait_ms, wait_group IN ('ineligible', 'other')), 0) / 1000) AS other,
      if(countIf(wait_group = 'disk' AND waits IS NULL) > 0, NULL, ifNull(sumIf(waits, wait_group = 'disk'), 0)) AS disk_waited
    FROM counterflow.wait FINAL
    WHERE task != '*' AND ts > {since:DateTime64(3)} AND ts <= {until:DateTime64(3)}
      AND (empty({systems:Array(String)}) OR has({systems:Array(String)}, system))
    GROUP BY system, ts, of_task
    HAVING count(wait_ms) > 0
  ),
  queued AS
  (
    SELECT system, ts, sum(wait_ms * transfers) / nullIf(sum(transfer_ms), 0) AS queued_share
    FROM counterflow.disk_load
    WHERE leaf AND service_ms + wait_ms IS NOT NULL AND ts > {since:DateTime64(3)} AND ts <= {until:DateTime64(3)}
      AND (empty({systems:Array(String)}) OR has({systems:Array(String)}, system))
    GROUP BY system, ts
  ),
  part AS
  (
    SELECT
      j.system AS system, j.ts AS ts, j.number AS number, j.user AS user, j.name AS name, j.of_subsystem AS of_subsystem,
      j.ran_before AS ran_before, j.runs_after AS runs_after,
      w.all_s AS known_s, w.cpu AS cpu, w.cpu_queueing AS cpu_queueing, w.faults AS faults, w.locks AS locks,
      w.journal AS journal, w.other AS other, w.disk_waited AS disk_waited, w.all_s IS NULL AS unknown,
      w.transfers > 0 AND q.queued_share IS NULL AS not_parted,
      w.transfers * coalesce(q.queued_share, 0) + w.disk_contention AS disk_queueing,
      w.transfers * (1 - coalesce(q.queued_share, 0)) AS disk_served,
      j.ts - toIntervalMillisecond(round(1000 * r.seconds)) AS from_ts,
      if(runs_after, j.ts, from_ts + toIntervalMillisecond(round(1000 * j.lasted_s))) AS to_ts,
      if(ran_before OR w.all_s IS NULL, from_ts, greatest(from_ts, to_ts - toIntervalMillisecond(round(1000 * w.all_s))))
        AS work_ts
    FROM job_interval AS j
    INNER JOIN recorded AS r ON r.system = j.system AND r.ts = j.ts
    LEFT JOIN waited AS w ON w.system = j.system AND w.ts = j.ts AND w.of_task = j.of_task
    LEFT JOIN queued AS q ON q.system = j.system AND q.ts = j.ts
  ),
  whole AS
  (
    SELECT
      system, concat(number, '/', user, '/', name) AS job, name AS job_name, any(of_subsystem) AS subsystem,
      min(work_ts) AS begin_ts, max(to_ts) AS end_ts,
      argMin(ran_before, ts) = 0 AS began, argMax(runs_after, ts) = 0 AS ended,
      dateDiff('millisecond', begin_ts, end_ts) / 1000 AS elapsed_s, sum(known_s) AS explained_s,
      sum(cpu) AS cpu_s, sum(cpu_queueing) AS cpu_queueing_s, sum(disk_served) AS disk_s,
      if(countIf(not_parted) > 0, NULL, sum(disk_queueing)) AS disk_queueing_s,
      sum(faults) AS faults_s, sum(locks) AS locks_s, sum(journal) AS journal_s, sum(other) AS other_s,
      if(countIf(disk_waited IS NULL) > 0, NULL, sum(disk_waited)) AS disk_waits
    FROM part
    GROUP BY system, number, user, name
  ),
  -- what ended last before each begin, in order of time: each job is there with its end and with its begin
  linked AS
  (
    SELECT *, if(dateDiff('millisecond', last_end.1, begin_ts) <= 1000 * gap_s, last_end.2, '') AS follows
    FROM
    (
      SELECT
        *, at_end, if(at_end, end_ts, begin_ts + toIntervalSecond(stamp_s)) AS at_ts,
        max(if(at_end AND ended AND elapsed_s > stamp_s, (end_ts, job), (toDateTime64(0, 3, 'UTC'), '')))
          OVER (PARTITION BY system ORDER BY at_ts, at_end DESC ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS last_end
      FROM whole
      ARRAY JOIN [true, false] AS at_end
    )
    WHERE NOT at_end
  ),
  chained AS
  (
    -- back from the job that ended last: each job of the chain names the one before it
    SELECT
      system, arrayMap(at -> (at.2, at.3), arrayReverseSort(groupArray((end_ts, job, follows)))) AS jobs,
      arrayReverse(arrayFold(
        (found, at) -> if(found.1 = at.1, (at.2, arrayPushBack(found.2, at.1)), found),
        jobs, (jobs[1].1, CAST([], 'Array(String)'))
      ).2) AS chain
    FROM linked
    WHERE began AND ended AND elapsed_s > stamp_s
    GROUP BY system
  )
SELECT
  l.system AS system, l.job AS job, l.job_name AS job_name, l.subsystem AS subsystem, l.begin_ts AS begin_ts,
  l.end_ts AS end_ts, l.began AS began, l.ended AS ended, l.elapsed_s AS elapsed_s, l.explained_s AS explained_s,
  l.cpu_s AS cpu_s, l.cpu_queueing_s AS cpu_queueing_s, l.disk_s AS disk_s, l.disk_queueing_s AS disk_queueing_s,
  l.faults_s AS faults_s, l.locks_s AS locks_s, l.journal_s AS journal_s, l.other_s AS other_s, l.disk_waits AS disk_waits,
  nullIf(l.follows, '') AS follows,
  nullIf(indexOf(c.chain, l.job), 0) AS chain_place
FROM linked AS l
LEFT JOIN chained AS c ON c.system = l.system
COMMENT 'Batch jobs of IBM i, batch_job_within(since = ..., until = ..., systems = [...], empty for all): begin, end, and the parts of their elapsed time by the wait buckets of the first thread, seconds. began, ended: within the period. disk_s contains disk_queueing_s where that is null, since the disks have no service and wait times; all parts are null where no waits of the job are known. follows: the job that ended last, at most a minute before this one began. chain_place: place in the chain that ends with the last job of the period, from 1; null outside of it.';
