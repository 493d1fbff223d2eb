-- Is the log path of Db2 at its ceiling? One row per subsystem and interval. Formulas, and how figures of other sources,
-- ceilings and minutes meet: README.md; columns: schemas/datasets/log_load.yaml.
--
-- Where two sources report one interval, each figure is the greatest of both: nothing is added.
-- `n` is 1, plus 1 for the ceiling, and 1 for each row that is set beside it in each minute: the result that knows more
-- replaces the one that knew less.

CREATE TEMPORARY VIEW sampled AS
SELECT
  *,
  COALESCE(ci_written < prev_ci_written, FALSE)
    OR COALESCE(ci_created < prev_ci_created, FALSE)
    OR COALESCE(write_ios < prev_write_ios, FALSE)
    OR COALESCE(buffer_waits < prev_buffer_waits, FALSE)
    OR COALESCE(zhl_log_writes < prev_zhl_log_writes, FALSE)
    OR COALESCE(zhl_log_write_fail_sync < prev_zhl_log_write_fail_sync, FALSE)
    OR COALESCE(log_write_wait_us < prev_log_write_wait_us, FALSE)
    OR COALESCE(log_write_waits < prev_log_write_waits, FALSE) AS fell
FROM db_log;

-- counted_s: the divisor of running counts, null where they allow no rate
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
    * 4096 / 1e6 AS all_written_mb_s,
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

-- The first row of each key. COUNT, not ROW_NUMBER: Flink assumes that rows which ROW_NUMBER keeps may be retracted, and
-- sums of such rows take twice the time.
CREATE TEMPORARY VIEW intervals AS
SELECT ts, interval_s, `system`, subsystem
FROM (
  SELECT
    ts, length_s AS interval_s, `system`, subsystem,
    COUNT(*) OVER (
      PARTITION BY `system`, subsystem, ts ORDER BY pt ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS arrival
  FROM timed
)
WHERE arrival = 1;

CREATE TEMPORARY VIEW processors AS
SELECT ts, interval_s, `system`, engine_type, busy_pct
FROM (
  SELECT
    ts, interval_s, `system`, engine_type, busy_pct,
    COUNT(*) OVER (
      PARTITION BY `system`, engine_type, ts ORDER BY pt ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS arrival
  FROM system_cpu
  WHERE engine_type IN ('gcp', 'ziip') AND engine = 'all' AND busy_pct IS NOT NULL
)
WHERE arrival = 1;

-- since: a prefix, a time of 13 digits, by which the newest of several is the greatest text
CREATE TEMPORARY VIEW hints AS
SELECT
  *, own_minute + slots - 1 AS last_slot,
  LPAD(CAST(EXTRACT(EPOCH FROM ts) * 1000 + EXTRACT(MILLISECOND FROM ts) AS STRING), 13, '0') AS since
FROM (
  SELECT
    ts, `system`, subsystem, log_path, copies, zhl_sync_pct, EXTRACT(EPOCH FROM ts) / 60 AS own_minute,
    CASE WHEN log_path IS NULL AND copies IS NULL THEN 5 ELSE 60 END AS slots,
    COUNT(*) OVER (
      PARTITION BY `system`, subsystem, ts ORDER BY pt ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS arrival
  FROM db_log
  WHERE COALESCE(ci_written, ci_created, ci_written_delta, ci_created_delta, log_rate_mb_s) IS NULL
    AND (log_path IS NOT NULL OR copies IS NOT NULL OR zhl_sync_pct IS NOT NULL)
)
WHERE arrival = 1;

CREATE TEMPORARY VIEW beside AS
SELECT
  `system`, CAST(NULL AS STRING) AS subsystem, slot, engine_type, busy_pct, weight,
  CAST(NULL AS STRING) AS path, CAST(NULL AS STRING) AS copies, CAST(NULL AS STRING) AS share
FROM minutes_of_processors
UNION ALL
SELECT
  `system`, subsystem, slot, 'hint', CAST(NULL AS DOUBLE), CAST(NULL AS BIGINT),
  since || log_path, since || CAST(copies AS STRING),
  CASE WHEN slot < own_minute + 5 THEN since || CAST(zhl_sync_pct AS STRING) END
FROM slots_of_hints;

-- The newest version holds: prefixed with times of 13 digits, it is the greatest text.
CREATE TEMPORARY VIEW ceilings AS
SELECT
  `system`, SPLIT_INDEX(item, '/', 0) AS subsystem, ts,
  CASE SPLIT_INDEX(item, '/', 1) WHEN 'zhpf' THEN version END AS zhpf,
  CASE SPLIT_INDEX(item, '/', 1) WHEN 'zhl' THEN version END AS zhl
FROM (
  SELECT
    `system`, item, ts,
    LPAD(CAST(EXTRACT(EPOCH FROM ts) * 1000 + EXTRACT(MILLISECOND FROM ts) AS STRING), 13, '0')
      || LPAD(CAST(EXTRACT(EPOCH FROM collected_at) * 1000 + EXTRACT(MILLISECOND FROM collected_at) AS STRING), 13, '0')
      || `value` AS version,
    COUNT(*) OVER (
      PARTITION BY `system`, item, ts, collected_at, `value` ORDER BY pt ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS arrival
  FROM config
  WHERE section = 'log_ceiling' AND name = 'ceiling_mb_s'
)
WHERE arrival = 1;

-- Each interval by itself, and again with what is set beside it: see link_load.
CREATE TEMPORARY VIEW pairs AS
SELECT
  *, CAST(NULL AS STRING) AS kind, CAST(NULL AS DOUBLE) AS busy_pct, CAST(NULL AS BIGINT) AS weight,
  CAST(NULL AS STRING) AS hint_path, CAST(NULL AS STRING) AS hint_copies, CAST(NULL AS STRING) AS hint_share,
  CAST(NULL AS STRING) AS zhpf, CAST(NULL AS STRING) AS zhl
FROM loads
UNION ALL
SELECT
  s.ts, CAST(NULL AS DOUBLE), s.`system`, s.subsystem, CAST(NULL AS STRING), CAST(NULL AS STRING), CAST(NULL AS DOUBLE),
  CAST(NULL AS DOUBLE), CAST(NULL AS DOUBLE), CAST(NULL AS DOUBLE), CAST(NULL AS DOUBLE), CAST(NULL AS DOUBLE),
  CAST(NULL AS DOUBLE), CAST(NULL AS DOUBLE), CAST(NULL AS DOUBLE), CAST(NULL AS DOUBLE), CAST(NULL AS BOOLEAN),
  b.engine_type, b.busy_pct, b.weight, b.path, b.copies, b.share, CAST(NULL AS STRING), CAST(NULL AS STRING)
FROM minutes_of_intervals AS s
INNER JOIN beside AS b
  ON b.`system` = s.`system` AND b.slot = s.slot AND (b.subsystem IS NULL OR b.subsystem = s.subsystem)
UNION ALL
-- a ceiling remains valid: its state does not expire with that of the intervals
SELECT /*+ STATE_TTL('c' = '36500 d') */
  l.ts, CAST(NULL AS DOUBLE), l.`system`, l.subsystem, CAST(NULL AS STRING), CAST(NULL AS STRING), CAST(NULL AS DOUBLE),
  CAST(NULL AS DOUBLE), CAST(NULL AS DOUBLE), CAST(NULL AS DOUBLE), CAST(NULL AS DOUBLE), CAST(NULL AS DOUBLE),
  CAST(NULL AS DOUBLE), CAST(NULL AS DOUBLE), CAST(NULL AS DOUBLE), CAST(NULL AS DOUBLE), CAST(NULL AS BOOLEAN),
  CAST(NULL AS STRING), CAST(NULL AS DOUBLE), CAST(NULL AS BIGINT), CAST(NULL AS STRING), CAST(NULL AS STRING),
  CAST(NULL AS STRING), c.zhpf, c.zhl
FROM (SELECT ts, `system`, subsystem FROM db_log) AS l
INNER JOIN ceilings AS c ON c.`system` = l.`system` AND c.subsystem = l.subsystem AND c.ts <= l.ts;

CREATE TEMPORARY VIEW sums AS
SELECT
  ts, `system`, subsystem, COUNT(kind) AS besides, MAX(interval_s) AS interval_s, MAX(`member`) AS `member`,
  COALESCE(MAX(log_path), SUBSTRING(MAX(hint_path), 14)) AS path,
  COALESCE(MAX(copies), CAST(SUBSTRING(MAX(hint_copies), 14) AS DOUBLE)) AS copies,
  COALESCE(MAX(zhl_sync_pct), CAST(SUBSTRING(MAX(hint_share), 14) AS DOUBLE)) AS zhl_sync_pct,
  MAX(active_threads) AS active_threads, MAX(all_written_mb_s) AS all_written_mb_s,
  MAX(created_mb_s) AS created_mb_s, MAX(reported_mb_s) AS reported_mb_s,
  MAX(waits_delta) AS waits_delta, MAX(waiting_threads) AS waiting_threads, MAX(log_write_ms) AS log_write_ms,
  MAX(ci_per_io) AS ci_per_io, MAX(CAST(`reset` AS INT)) = 1 AS `reset`,
  SUM(busy_pct * weight) FILTER (WHERE kind = 'gcp') / SUM(weight) FILTER (WHERE kind = 'gcp') AS gcp_pct,
  SUM(busy_pct * weight) FILTER (WHERE kind = 'ziip') / SUM(weight) FILTER (WHERE kind = 'ziip') AS ziip_pct,
  MAX(zhpf) AS zhpf, MAX(zhl) AS zhl
FROM pairs
GROUP BY `system`, subsystem, ts;

CREATE TEMPORARY VIEW placed AS
SELECT
  *, all_written_mb_s / NULLIF(copies, 0) AS written_mb_s, CASE path WHEN 'zhpf' THEN zhpf WHEN 'zhl' THEN zhl END AS version
FROM sums;

CREATE TEMPORARY VIEW rated AS
SELECT
  *, COALESCE(written_mb_s, created_mb_s, reported_mb_s) AS rate_mb_s,
  CASE WHEN TRY_CAST(SUBSTRING(version, 27) AS DOUBLE) > 0 THEN TRY_CAST(SUBSTRING(version, 27) AS DOUBLE) END
    AS ceiling_mb_s
FROM placed;

INSERT INTO log_load (
  ts, interval_s, `system`, n, subsystem, `member`, path, copies, rate_mb_s, rate_basis, written_mb_s, created_mb_s,
  ceiling_mb_s, ceiling_since, ceiling_pct, waits_delta, waiting_threads, active_threads, log_write_ms, ci_per_io,
  zhl_sync_pct, gcp_pct, ziip_pct, `reset`
)
SELECT
  ts, interval_s, `system`, 1 + besides + CASE WHEN version IS NULL THEN 0 ELSE 1 END,
  subsystem, `member`, path, copies, rate_mb_s,
  CASE WHEN written_mb_s IS NOT NULL THEN 'written' WHEN created_mb_s IS NOT NULL THEN 'created'
    WHEN reported_mb_s IS NOT NULL THEN 'reported' END,
  written_mb_s, created_mb_s, ceiling_mb_s,
  TO_TIMESTAMP_LTZ(CAST(SUBSTRING(version, 1, 13) AS BIGINT), 3),
  100 * rate_mb_s / ceiling_mb_s,
  waits_delta, waiting_threads, active_threads, log_write_ms, ci_per_io, zhl_sync_pct, gcp_pct, ziip_pct, `reset`
FROM rated;
