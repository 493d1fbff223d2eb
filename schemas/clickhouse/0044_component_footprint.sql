-- Which part of Q Replication and what it needs a command belongs to. nmon cuts long names, so that beginnings count:
-- asnqcap, asnqapp (Q Capture, Q Apply), amq..., runmq... (IBM MQ: queue managers, channels, listeners), db2fmp (fenced
-- routines: a workload of stored procedures), db2... (the engine, db2sysc, and its helpers).
CREATE OR REPLACE VIEW counterflow.component_footprint {on_cluster} AS
SELECT
  ts, max(interval_s) AS interval_s, system,
  multiIf(
    startsWith(command, 'asnqcap'), 'Q Capture',
    startsWith(command, 'asnqapp'), 'Q Apply',
    startsWith(command, 'amq') OR startsWith(command, 'runmq'), 'MQ',
    startsWith(command, 'db2fmp'), 'Db2 fenced',
    startsWith(command, 'db2'), 'Db2',
    'other'
  ) AS component,
  cpu_base, sum(n) AS n, sum(f.cpu_ms) AS cpu_ms, sum(f.cpu_cores) AS cpu_cores, sum(f.memory_mb) AS memory_mb
FROM counterflow.footprint AS f FINAL
GROUP BY ts, system, component, cpu_base
COMMENT 'What Q Replication, MQ, Db2 and all else use on one system over one interval: the processes of footprint by component.';
