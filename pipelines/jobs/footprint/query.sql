-- What does each component use?
--
-- One row per command: processor time and memory of all its processes in the interval. `n` counts the processes.
--
-- cpu_cores  processor time / length of the interval, in processors of `cpu_base`.
-- memory     AIX: sum of resident private data + the program text once, since its processes share it;
--            Linux: sum of the resident sets less shared library pages.
--            Shared memory segments (buffer pools) are in no process's figure on AIX.
--
-- A process that the recorder does not report (idle, or below its threshold) has no row. It used nothing then, so over
-- a period divide by the time recorded, not by the time it was seen (docs/kpis/footprint.md).
--
-- Sources: nmon TOP (schemas/datasets/job.yaml).

INSERT INTO footprint (ts, interval_s, `system`, n, command, cpu_ms, cpu_cores, cpu_base, memory_mb, threads)
SELECT
  ts, MAX(interval_s), `system`, COUNT(*), command,
  SUM(cpu_ms),
  SUM(cpu_ms) / NULLIF(MAX(interval_s) * 1000, 0),
  MAX(cpu_base),
  -- Linux has a resident set; its `data` and `text` are virtual sizes, not resident ones
  CASE
    WHEN COUNT(resident_kb) > 0 THEN SUM(resident_kb - shared_kb)
    ELSE SUM(resident_data_kb) + MAX(resident_text_kb)
  END / 1024,
  SUM(threads)
FROM distinct_job
GROUP BY `system`, command, ts;
