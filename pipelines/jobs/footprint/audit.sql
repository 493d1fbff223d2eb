-- The results of footprint, from the definitions in schemas/datasets/footprint.yaml and docs/kpis/footprint.md.
SELECT
  system, command, ts, count() AS n, max(j.landed_at) AS landed_at, max(j.interval_s) AS interval_s,
  sum(j.cpu_ms) AS cpu_ms,
  sum(j.cpu_ms) / nullIf(1000 * max(j.interval_s), 0) AS cpu_cores,
  max(j.cpu_base) AS cpu_base,
  if(
    countIf(isNotNull(resident_kb)) > 0, sum(resident_kb - shared_kb), sum(resident_data_kb) + max(resident_text_kb)
  ) / 1024 AS memory_mb,
  sum(j.threads) AS threads
FROM counterflow.job AS j FINAL
WHERE ts >= {from:DateTime64(3, 'UTC')} AND ts < {to:DateTime64(3, 'UTC')}
GROUP BY system, command, ts
