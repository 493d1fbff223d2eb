-- The results of job_cpu, from the definitions in schemas/datasets/job_cpu.yaml and docs/kpis/processors.md.
SELECT
  system, g.1 AS grouping, assumeNotNull(g.2) AS name, ts, count() AS n, max(j.landed_at) AS landed_at,
  max(j.interval_s) AS interval_s,
  sum(j.cpu_ms) AS cpu_ms,
  sum(j.cpu_ms) / nullIf(1000 * max(j.interval_s), 0) AS cpu_cores,
  sum(j.sql_cpu_ms) AS sql_cpu_ms,
  sum(if(summarised_tasks > 0, summarised_tasks, 1)) AS tasks
FROM counterflow.job AS j FINAL
ARRAY JOIN [
  ('partition', toNullable('*')), ('accounting_code', accounting_code), ('subsystem', subsystem), ('user', job_user),
  ('job', job_name), ('generic_job', substringUTF8(job_name, 1, 6)), ('job_type', job_type)
] AS g
WHERE source = 'ibmi_tables' AND isNotNull(g.2)
  AND ts >= {from:DateTime64(3, 'UTC')} AND ts < {to:DateTime64(3, 'UTC')}
GROUP BY system, grouping, name, ts
