-- The commands of footprint with the part of Q Replication that each belongs to, a row a command: what is additive needs no
-- sum at each instant first, which over months is more than a query may hold.
-- nmon cuts long names, so that beginnings count: asnqcap, asnqapp (Q Capture, Q Apply), amq..., runmq... (IBM MQ: queue
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
  f.cpu_base AS cpu_base, f.n AS n, f.cpu_ms AS cpu_ms, f.cpu_cores AS cpu_cores, f.memory_mb AS memory_mb
FROM counterflow.footprint AS f FINAL
COMMENT 'What a command uses on one system over one interval, and the part of Q Replication that it belongs to.';

CREATE OR REPLACE VIEW counterflow.component_footprint {on_cluster} AS
SELECT
  ts, max(p.interval_s) AS interval_s, system, component, cpu_base, sum(p.n) AS n, sum(p.cpu_ms) AS cpu_ms,
  sum(p.cpu_cores) AS cpu_cores, sum(p.memory_mb) AS memory_mb
FROM counterflow.component_process AS p
GROUP BY ts, system, component, cpu_base
COMMENT 'What Q Replication, MQ, Db2 and all else use on one system over one interval: the processes of footprint by component.';

ALTER TABLE counterflow.component_process {on_cluster}
  COMMENT COLUMN `ts` 'End of the interval, UTC.',
  COMMENT COLUMN `interval_s` 'Length of the interval. [s; gauge; null: the inputs give no length]',
  COMMENT COLUMN `system` 'Name of the system.',
  COMMENT COLUMN `command` 'Command as in footprint.',
  COMMENT COLUMN `component` 'Q Capture, Q Apply, MQ, Db2, Db2 fenced, or other.',
  COMMENT COLUMN `cpu_base` 'What cpu_cores counts, as in footprint. [null: not known]',
  COMMENT COLUMN `n` 'Rows of the dataset job. [rows; gauge]',
  COMMENT COLUMN `cpu_ms` 'Processor time. [ms; delta; null: not reported]',
  COMMENT COLUMN `cpu_cores` 'Processors kept busy. [processors; gauge; null: not reported]',
  COMMENT COLUMN `memory_mb` 'Memory. [MB of 1,048,576 bytes; gauge; null: not reported]';

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
