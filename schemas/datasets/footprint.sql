-- AIX: resident private data, and the program text once, since the processes share it. Shared memory segments (buffer
-- pools) are in no process's figure. Linux: resident sets less shared library pages; `data` and `text` are virtual there.
SELECT
  ts, max(j.interval_s) AS interval_s, system, command,
  count() AS processes,
  sum(j.cpu_ms) AS cpu_ms,
  cpu_ms / nullIf(1000 * interval_s, 0) AS cpu_cores,
  max(j.cpu_base) AS cpu_base,
  if(
    count(resident_kb) > 0, sum(resident_kb - shared_kb), sum(resident_data_kb) + max(resident_text_kb)
  ) / 1024 AS memory_mb,
  sum(j.threads) AS threads
FROM counterflow.job AS j FINAL
GROUP BY system, command, ts
