-- Is the log path of Db2 at its ceiling?
--
-- A row a subsystem and interval. MB are 10^6 bytes, of one copy of the log.
--
-- rate       CIs written × 4096 / copies, a CI that is written again counting again; where copies or CIs written are not
--            known CIs created × 4096; else what the source states. `rate_basis` says which.
-- running    a count gives (value - value before) / time between the two samples, none where any count is less than
--            before (`reset`), where there is no sample before, and where it is more than twice the usual interval ago.
-- processors mean of the minutes of the interval: a sample of a minute or longer is in the minutes whose middle it
--            contains, a shorter one in the minute that contains its own middle.
-- ceiling    the newest that holds from the end of the interval or before, for the subsystem and its path; of two that
--            hold from the same time the one read last.
--
-- Where two sources report one interval, each figure is the greatest of both: nothing is added.
-- `n` is 1, 1 more for the ceiling, and 1 for each sample of processors in each minute: the result that knows more
-- replaces the one that knew less.
--
-- Sources: schemas/datasets/log_load.yaml; formulas: docs/kpis.md.

-- RAND: see link_load.
CREATE TEMPORARY VIEW sampled AS
SELECT
  *,
  EXTRACT(EPOCH FROM ts) - EXTRACT(EPOCH FROM prev_ts)
    + (EXTRACT(MILLISECOND FROM ts) - EXTRACT(MILLISECOND FROM prev_ts)) / 1000e0 + 0 * RAND() AS apart_s,
  COALESCE(ci_written < prev_ci_written, FALSE)
    OR COALESCE(ci_created < prev_ci_created, FALSE)
    OR COALESCE(write_ios < prev_write_ios, FALSE)
    OR COALESCE(buffer_waits < prev_buffer_waits, FALSE)
    OR COALESCE(zhl_log_writes < prev_zhl_log_writes, FALSE)
    OR COALESCE(zhl_log_write_fail_sync < prev_zhl_log_write_fail_sync, FALSE)
    OR COALESCE(log_write_wait_us < prev_log_write_wait_us, FALSE)
    OR COALESCE(log_write_waits < prev_log_write_waits, FALSE) AS fell
FROM db_log;

-- counted_s: what running counts are divided by, null where they allow no rate
CREATE TEMPORARY VIEW timed AS
SELECT
  *,
  CASE WHEN apart_s > 0 THEN apart_s ELSE interval_s END AS length_s,
  CASE WHEN apart_s > 0 AND NOT fell AND (interval_s IS NULL OR apart_s <= 2 * interval_s) THEN apart_s END AS counted_s,
  CASE WHEN prev_ts IS NOT NULL THEN fell END AS `reset`
FROM sampled;

CREATE TEMPORARY VIEW loads AS
SELECT
  ts, length_s AS interval_s, `system`, subsystem, `member`, log_path, copies, active_threads,
  COALESCE((ci_written - prev_ci_written) / counted_s, ci_written_delta / NULLIF(interval_s, 0))
    * 4096 / NULLIF(copies, 0) / 1e6 AS written_mb_s,
  COALESCE((ci_created - prev_ci_created) / counted_s, ci_created_delta / NULLIF(interval_s, 0))
    * 4096 / 1e6 AS created_mb_s,
  log_rate_mb_s AS reported_mb_s,
  CASE WHEN counted_s IS NULL THEN buffer_waits_delta ELSE buffer_waits - prev_buffer_waits END AS waits_delta,
  (log_write_wait_us - prev_log_write_wait_us) / 1e6 / counted_s AS waiting_threads,
  CASE WHEN counted_s IS NOT NULL
    THEN (log_write_wait_us - prev_log_write_wait_us) / 1e3 / NULLIF(log_write_waits - prev_log_write_waits, 0)
  END AS log_write_ms,
  CASE WHEN counted_s IS NULL THEN ci_written_delta / NULLIF(write_ios_delta, 0)
    ELSE (ci_written - prev_ci_written) / NULLIF(write_ios - prev_write_ios, 0) END AS ci_per_io,
  COALESCE(zhl_sync_pct, CASE WHEN counted_s IS NOT NULL
    THEN 100 * (1 - (zhl_log_write_fail_sync - prev_zhl_log_write_fail_sync)
      / NULLIF(zhl_log_writes - prev_zhl_log_writes, 0)) END) AS zhl_sync_pct,
  `reset`
FROM timed;

-- Minutes since 1970, numbered by their beginning, of intervals of at most a day. Counted, not ROW_NUMBER: see io_mix.
CREATE TEMPORARY VIEW reaching AS
SELECT
  *,
  CASE WHEN length < 60 THEN (2 * ends - length - 1) / 120 ELSE (ends - 30) / 60 END AS final_minute,
  CASE WHEN length < 60 THEN 1
    ELSE CAST((ends - 30) / 60 - (ends - LEAST(length, 86400) - 30) / 60 AS INT) END AS minutes
FROM (
  SELECT
    ts, `system`, subsystem, EXTRACT(EPOCH FROM ts) AS ends, CAST(ROUND(length_s) AS BIGINT) AS length,
    COUNT(*) OVER (
      PARTITION BY `system`, subsystem, ts ORDER BY pt ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS arrival
  FROM timed
)
WHERE arrival = 1 AND length > 0;

CREATE TEMPORARY VIEW spans AS
SELECT ts, `system`, subsystem, final_minute + 1 - step AS slot
FROM reaching
-- as many elements as there are minutes: see link_load
CROSS JOIN UNNEST(SPLIT('-' || REPEAT(',', minutes - 1), ',')) WITH ORDINALITY AS steps (nothing, step);

CREATE TEMPORARY VIEW processors AS
SELECT
  `system`, engine_type, busy_pct, ends, length, LEAST(length, 60) AS weight,
  CASE WHEN length < 60 THEN (2 * ends - length - 1) / 120 ELSE (ends - 30) / 60 END AS final_minute,
  CASE WHEN length < 60 THEN 1
    ELSE CAST((ends - 30) / 60 - (ends - LEAST(length, 86400) - 30) / 60 AS INT) END AS minutes
FROM (
  SELECT
    `system`, engine_type, busy_pct, EXTRACT(EPOCH FROM ts) AS ends, CAST(ROUND(interval_s) AS BIGINT) AS length,
    COUNT(*) OVER (
      PARTITION BY `system`, engine_type, ts ORDER BY pt ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS arrival
  FROM system_cpu
  WHERE engine_type IN ('gcp', 'ziip') AND engine = 'all' AND busy_pct IS NOT NULL
)
WHERE arrival = 1 AND length > 0;

CREATE TEMPORARY VIEW busy AS
SELECT `system`, engine_type, busy_pct, weight, final_minute + 1 - step AS slot
FROM processors
CROSS JOIN UNNEST(SPLIT('-' || REPEAT(',', minutes - 1), ',')) WITH ORDINALITY AS steps (nothing, step);

-- Of versions the newest holds: behind times of 13 digits it is the greatest text.
CREATE TEMPORARY VIEW ceilings AS
SELECT `system`, item, ts, version
FROM (
  SELECT
    `system`, item, ts,
    LPAD(CAST(EXTRACT(EPOCH FROM ts) * 1000 + EXTRACT(MILLISECOND FROM ts) AS STRING), 13, '0')
      || LPAD(CAST(EXTRACT(EPOCH FROM collected_at) * 1000 + EXTRACT(MILLISECOND FROM collected_at) AS STRING), 13, '0')
      || `value` AS version,
    COUNT(*) OVER (
      PARTITION BY `system`, item, ts, `value` ORDER BY pt ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS arrival
  FROM config
  WHERE section = 'log_ceiling' AND name = 'ceiling_mb_s'
)
WHERE arrival = 1;

-- Each interval by itself, and again with what is set beside it: see link_load.
CREATE TEMPORARY VIEW pairs AS
SELECT
  *, CAST(NULL AS STRING) AS engine_type, CAST(NULL AS DOUBLE) AS busy_pct, CAST(NULL AS BIGINT) AS weight,
  CAST(NULL AS STRING) AS version
FROM loads
UNION ALL
SELECT
  s.ts, CAST(NULL AS DOUBLE), s.`system`, s.subsystem, CAST(NULL AS STRING), CAST(NULL AS STRING), CAST(NULL AS DOUBLE),
  CAST(NULL AS DOUBLE), CAST(NULL AS DOUBLE), CAST(NULL AS DOUBLE), CAST(NULL AS DOUBLE), CAST(NULL AS DOUBLE),
  CAST(NULL AS DOUBLE), CAST(NULL AS DOUBLE), CAST(NULL AS DOUBLE), CAST(NULL AS DOUBLE), CAST(NULL AS BOOLEAN),
  b.engine_type, b.busy_pct, b.weight, CAST(NULL AS STRING)
FROM spans AS s
INNER JOIN busy AS b ON b.`system` = s.`system` AND b.slot = s.slot
UNION ALL
-- a ceiling holds on: its state does not go with that of the intervals
SELECT /*+ STATE_TTL('c' = '36500 d') */
  l.ts, CAST(NULL AS DOUBLE), l.`system`, l.subsystem, CAST(NULL AS STRING), CAST(NULL AS STRING), CAST(NULL AS DOUBLE),
  CAST(NULL AS DOUBLE), CAST(NULL AS DOUBLE), CAST(NULL AS DOUBLE), CAST(NULL AS DOUBLE), CAST(NULL AS DOUBLE),
  CAST(NULL AS DOUBLE), CAST(NULL AS DOUBLE), CAST(NULL AS DOUBLE), CAST(NULL AS DOUBLE), CAST(NULL AS BOOLEAN),
  CAST(NULL AS STRING), CAST(NULL AS DOUBLE), CAST(NULL AS BIGINT), c.version
FROM (SELECT ts, `system`, subsystem, subsystem || '/' || log_path AS item FROM db_log) AS l
INNER JOIN ceilings AS c ON c.`system` = l.`system` AND c.item = l.item AND c.ts <= l.ts;

CREATE TEMPORARY VIEW sums AS
SELECT
  ts, `system`, subsystem, MAX(interval_s) AS interval_s, MAX(`member`) AS `member`, MAX(log_path) AS path,
  MAX(copies) AS copies, MAX(active_threads) AS active_threads,
  MAX(written_mb_s) AS written_mb_s, MAX(created_mb_s) AS created_mb_s, MAX(reported_mb_s) AS reported_mb_s,
  MAX(waits_delta) AS waits_delta, MAX(waiting_threads) AS waiting_threads, MAX(log_write_ms) AS log_write_ms,
  MAX(ci_per_io) AS ci_per_io, MAX(zhl_sync_pct) AS zhl_sync_pct, MAX(CAST(`reset` AS INT)) = 1 AS `reset`,
  COUNT(engine_type) AS besides,
  SUM(busy_pct * weight) FILTER (WHERE engine_type = 'gcp')
    / SUM(weight) FILTER (WHERE engine_type = 'gcp') AS gcp_pct,
  SUM(busy_pct * weight) FILTER (WHERE engine_type = 'ziip')
    / SUM(weight) FILTER (WHERE engine_type = 'ziip') AS ziip_pct,
  MAX(version) AS version,
  TRY_CAST(SUBSTRING(MAX(version), 27) AS DOUBLE) AS ceiling_mb_s
FROM pairs
GROUP BY `system`, subsystem, ts;

CREATE TEMPORARY VIEW placed AS
SELECT
  ts, interval_s, `system`, subsystem, `member`, path, copies, active_threads,
  written_mb_s, created_mb_s, COALESCE(written_mb_s, created_mb_s, reported_mb_s) AS rate_mb_s,
  CASE WHEN written_mb_s IS NOT NULL THEN 'written' WHEN created_mb_s IS NOT NULL THEN 'created'
    WHEN reported_mb_s IS NOT NULL THEN 'reported' END AS rate_basis,
  waits_delta, waiting_threads, log_write_ms, ci_per_io, zhl_sync_pct, gcp_pct, ziip_pct, `reset`, version, besides,
  CASE WHEN ceiling_mb_s > 0 THEN ceiling_mb_s END AS ceiling_mb_s
FROM sums;

INSERT INTO log_load (
  ts, interval_s, `system`, n, subsystem, `member`, path, copies, rate_mb_s, rate_basis, written_mb_s, created_mb_s,
  ceiling_mb_s, ceiling_since, ceiling_pct, waits_delta, waiting_threads, active_threads, log_write_ms, ci_per_io,
  zhl_sync_pct, gcp_pct, ziip_pct, `reset`
)
SELECT
  ts, interval_s, `system`,
  1 + besides + CASE WHEN version IS NULL THEN 0 ELSE 1 END,
  subsystem, `member`, path, copies, rate_mb_s, rate_basis, written_mb_s, created_mb_s,
  ceiling_mb_s,
  CASE WHEN ceiling_mb_s IS NOT NULL THEN TO_TIMESTAMP_LTZ(CAST(SUBSTRING(version, 1, 13) AS BIGINT), 3) END,
  100 * rate_mb_s / ceiling_mb_s,
  waits_delta, waiting_threads, active_threads, log_write_ms, ci_per_io, zhl_sync_pct, gcp_pct, ziip_pct, `reset`
FROM placed;
