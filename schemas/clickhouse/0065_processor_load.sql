-- One figure for how busy a system's processors are, whatever it runs and however its recorder says it.
CREATE VIEW IF NOT EXISTS counterflow.processor_load {on_cluster} AS
SELECT
  c.ts AS ts, c.interval_s AS interval_s, c.system AS system, c.engine_type AS engine_type,
  multiIf(
    c.busy_pct IS NOT NULL, c.busy_pct,
    c.cpu_base = 'logical', c.user_pct + c.sys_pct,
    100 * c.physical_consumed_cores / nullIf(c.entitled_cores, 0)
  ) AS busy_pct,
  coalesce(
    c.cpu_ms / 1000 / nullIf(c.interval_s, 0),
    c.physical_consumed_cores,
    (c.user_pct + c.sys_pct) / 100 * c.logical_engines
  ) AS processors
FROM counterflow.system_cpu AS c FINAL
WHERE c.engine = 'all'
COMMENT 'Processors of a system over one interval: busy_pct of what is configured (IBM i, above 100 where uncapped), online (z/OS), entitled (shared AIX partitions) or there (Linux), and the processors kept busy.';
