-- What does one account (or transaction) cost? One row per workload, interval and `basis`. Formulas, and what is null for
-- which reason: README.md; how minutes meet: log_load; columns: schemas/datasets/account_cpu.yaml.
--
-- Rows of single operations and summaries hold the same work again and are counted in `n` alone. Where two sources report
-- one time, nothing is added: utilisation is the mean of both, the log and captured time are unknown.

-- COUNT, not ROW_NUMBER: see log_load.
CREATE TEMPORARY VIEW worked AS
SELECT
  ts, CASE WHEN apart_s > 0 THEN apart_s ELSE interval_s END AS interval_s, `system`, workload, run_id, unit_of_work, whole,
  CASE WHEN whole THEN CASE WHEN prev_ts IS NULL THEN done_delta
    WHEN apart_s > 0 AND done >= prev_done AND (interval_s IS NULL OR apart_s <= 2 * interval_s) THEN done - prev_done END
  END AS accounts
FROM (
  SELECT
    *, operation = '' AND `final` IS NOT TRUE AS whole,
    COUNT(*) OVER (
      PARTITION BY `system`, workload, run_id, operation, `final`, ts ORDER BY pt
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS arrival
  FROM workload
)
WHERE arrival = 1;

CREATE TEMPORARY VIEW intervals AS SELECT * FROM worked WHERE whole;

-- What is set beside intervals: `used` is a rate, of processors or of bytes; `own` is 1 where a row counts as input.
CREATE TEMPORARY VIEW processors AS
SELECT
  'lpar' AS basis, engine_type AS kind, 1 AS own, `system`, ts, interval_s, CAST(NULL AS STRING) AS source,
  core_base, pct, engines, used, CAST(1 AS BIGINT) AS place
FROM (
  SELECT
    `system`, ts, interval_s, engine_type,
    CASE WHEN engine_type = 'core' THEN
      CASE WHEN COALESCE(physical_consumed_cores, cpu_ms) IS NULL THEN 'logical' ELSE 'physical' END END AS core_base,
    CASE WHEN engine_type <> 'core' THEN busy_pct END AS pct,
    CASE WHEN engine_type <> 'core' THEN logical_engines END AS engines,
    CASE
      WHEN engine_type <> 'core' THEN busy_pct / 100 * logical_engines
      WHEN physical_consumed_cores IS NOT NULL THEN physical_consumed_cores
      WHEN cpu_ms IS NOT NULL THEN cpu_ms / 1000 / NULLIF(interval_s, 0)
      WHEN cpu_base = 'logical' THEN (user_pct + sys_pct) / 100 * logical_engines
    END AS used,
    COUNT(*) OVER (
      PARTITION BY `system`, engine_type, ts ORDER BY pt ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS arrival
  FROM system_cpu
  WHERE engine_type IN ('gcp', 'ziip', 'core') AND engine = 'all'
)
WHERE arrival = 1 AND used IS NOT NULL;

CREATE TEMPORARY VIEW logs AS
SELECT
  'lpar', 'log', 1, `system`, ts, CASE WHEN apart_s > 0 THEN apart_s ELSE interval_s END, source,
  CAST(NULL AS STRING), CAST(NULL AS DOUBLE), CAST(NULL AS DOUBLE),
  COALESCE(
    COALESCE((ci_written - prev_ci_written) / counted_s, ci_written_delta / NULLIF(interval_s, 0))
      * 4096 / NULLIF(copies, 0),
    COALESCE((ci_created - prev_ci_created) / counted_s, ci_created_delta / NULLIF(interval_s, 0)) * 4096,
    log_rate_mb_s * 1e6
  ),
  CAST(1 AS BIGINT)
FROM (
  SELECT
    *,
    CASE WHEN apart_s > 0 AND (interval_s IS NULL OR apart_s <= 2 * interval_s)
      AND NOT COALESCE(ci_written < prev_ci_written, FALSE) AND NOT COALESCE(ci_created < prev_ci_created, FALSE)
      THEN apart_s END AS counted_s,
    COUNT(*) OVER (
      PARTITION BY `system`, subsystem, ts ORDER BY pt ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS arrival
  FROM db_log
  WHERE COALESCE(ci_written, ci_created, ci_written_delta, ci_created_delta, log_rate_mb_s) IS NOT NULL
)
WHERE arrival = 1;

-- `place` is 1 on one of the address spaces that end together, so that their time counts once.
CREATE TEMPORARY VIEW spaces AS
SELECT
  'captured', k.kind, k.own, `system`, ts, interval_s, source,
  CAST(NULL AS STRING), CAST(NULL AS DOUBLE), CAST(NULL AS DOUBLE), k.ms / 1000 / interval_s, place
FROM (
  SELECT
    `system`, ts, interval_s, source,
    ARRAY[ROW('gcp', 1, gcp_ms), ROW('ziip', 0, ziip_ms), ROW('ziip on cp', 0, ziip_on_cp_ms)] AS kinds,
    COUNT(*) OVER (
      PARTITION BY `system`, source, ts ORDER BY pt ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS place
  FROM job
  WHERE gcp_ms IS NOT NULL AND interval_s >= 1
) AS o
CROSS JOIN UNNEST(o.kinds) AS k (kind, own, ms);

CREATE TEMPORARY VIEW samples AS
SELECT * FROM processors UNION ALL SELECT * FROM logs UNION ALL SELECT * FROM spaces;

-- The newest version holds: see log_load.
CREATE TEMPORARY VIEW batches AS
SELECT `system`, item, ts, version
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
  WHERE section = 'batch' AND name = 'units_total'
)
WHERE arrival = 1;

-- Each sample by itself, and again with what is set beside it: see link_load.
CREATE TEMPORARY VIEW pairs AS
SELECT
  ts, `system`, workload, 'lpar' AS basis, 1 AS samples, 1 AS own,
  CASE WHEN whole THEN run_id END AS run_id, CASE WHEN whole THEN unit_of_work END AS unit_of_work,
  CASE WHEN whole THEN accounts END AS accounts, CASE WHEN whole THEN interval_s END AS interval_s,
  CAST(NULL AS BIGINT) AS wanted_s, CAST(NULL AS INT) AS minutes_s,
  CAST(NULL AS STRING) AS kind, CAST(NULL AS STRING) AS source,
  CAST(NULL AS STRING) AS core_base, CAST(NULL AS DOUBLE) AS pct, CAST(NULL AS DOUBLE) AS engines,
  CAST(NULL AS DOUBLE) AS used, CAST(NULL AS BIGINT) AS weight, CAST(NULL AS BIGINT) AS covers_s,
  CAST(NULL AS STRING) AS version
FROM worked
UNION ALL
SELECT
  s.ts, s.`system`, s.workload, b.basis, 0, b.own, s.run_id, s.unit_of_work, s.accounts, s.interval_s, s.wanted_s,
  60 * s.slots, b.kind, b.source, b.core_base, b.pct, b.engines, b.used, b.weight, CASE WHEN b.place = 1 THEN b.weight END,
  CAST(NULL AS STRING)
FROM minutes_of_intervals AS s
INNER JOIN minutes_of_samples AS b ON b.`system` = s.`system` AND b.slot = s.slot
UNION ALL
-- a setting remains valid: its state does not expire with that of the intervals
SELECT /*+ STATE_TTL('c' = '36500 d') */
  w.ts, w.`system`, w.workload, 'lpar', 0, 0, CAST(NULL AS STRING), CAST(NULL AS STRING), CAST(NULL AS DOUBLE),
  CAST(NULL AS DOUBLE), CAST(NULL AS BIGINT), CAST(NULL AS INT),
  CAST(NULL AS STRING), CAST(NULL AS STRING), CAST(NULL AS STRING),
  CAST(NULL AS DOUBLE), CAST(NULL AS DOUBLE), CAST(NULL AS DOUBLE), CAST(NULL AS BIGINT), CAST(NULL AS BIGINT), c.version
FROM (SELECT ts, `system`, workload FROM workload) AS w
INNER JOIN batches AS c ON c.`system` = w.`system` AND c.item = w.workload AND c.ts <= w.ts;

CREATE TEMPORARY VIEW sums AS
SELECT
  ts, `system`, workload, basis, SUM(samples) AS samples, SUM(own) AS own, MAX(version) AS version,
  MAX(run_id) AS run_id, MAX(unit_of_work) AS unit_of_work, MAX(interval_s) AS interval_s, MAX(wanted_s) AS wanted_s,
  MAX(minutes_s) AS minutes_s,
  CASE WHEN MIN(run_id) = MAX(run_id) THEN MAX(accounts) END AS accounts, MIN(run_id) <> MAX(run_id) AS several,
  SUM(covers_s) FILTER (WHERE kind = 'gcp') AS gcp_s, SUM(covers_s) FILTER (WHERE kind = 'ziip') AS ziip_s,
  SUM(covers_s) FILTER (WHERE kind = 'core') AS core_s, SUM(covers_s) FILTER (WHERE kind = 'log') AS log_s,
  SUM(pct * weight) FILTER (WHERE kind = 'gcp') AS gcp_pct, SUM(pct * weight) FILTER (WHERE kind = 'ziip') AS ziip_pct,
  SUM(engines * weight) FILTER (WHERE kind = 'gcp') AS gcp_engines,
  SUM(engines * weight) FILTER (WHERE kind = 'ziip') AS ziip_engines,
  SUM(used * weight) FILTER (WHERE kind = 'gcp') AS gcp_used,
  SUM(used * weight) FILTER (WHERE kind = 'ziip') AS ziip_used,
  SUM(used * weight) FILTER (WHERE kind = 'ziip on cp') AS ziip_on_cp_used,
  SUM(used * weight) FILTER (WHERE kind = 'core') AS core_used, MAX(core_base) AS core_base,
  SUM(used * weight) FILTER (WHERE kind = 'log') AS log_used,
  MIN(source) = MAX(source) AS one_source, COUNT(used) FILTER (WHERE kind = 'log') = COUNT(source) AS logs_known
FROM pairs
GROUP BY `system`, workload, basis, ts;

-- Known where samples cover the minutes; there are several logs, each of which covers them. Logs add up: what they wrote
-- in whole minutes is divided by whole minutes (`minutes_s`), even where the interval is shorter.
CREATE TEMPORARY VIEW known AS
SELECT
  *,
  CASE WHEN gcp_s >= 0.95 * wanted_s AND (basis = 'lpar' OR one_source) THEN gcp_used / gcp_s END AS gcps,
  CASE WHEN ziip_s >= 0.95 * wanted_s AND (basis = 'lpar' OR one_source) THEN ziip_used / ziip_s END AS ziips,
  CASE WHEN ziip_s >= 0.95 * wanted_s AND one_source THEN ziip_on_cp_used / ziip_s END AS ziips_on_cp,
  CASE WHEN core_s >= 0.95 * wanted_s THEN core_used / core_s END AS cores,
  CASE WHEN one_source AND logs_known AND NOT several AND log_s >= 0.95 * minutes_s
    AND ABS(log_s - ROUND(log_s / CAST(minutes_s AS DOUBLE)) * minutes_s) <= 0.05 * minutes_s
    THEN log_used / minutes_s END AS log_bytes_s,
  CASE WHEN TRY_CAST(SUBSTRING(version, 27) AS DOUBLE) > 0 THEN TRY_CAST(SUBSTRING(version, 27) AS DOUBLE) END AS units,
  NULLIF(accounts, 0) AS divisor
FROM sums;

INSERT INTO account_cpu (
  ts, interval_s, `system`, n, workload, basis, samples, unit_of_work, run_id, accounts, accounts_per_hour,
  gcp_ms_per_account, ziip_ms_per_account, ziip_on_cp_ms_per_account, core_ms_per_account,
  gcp_pct, gcp_engines, ziip_pct, ziip_engines, cores_used, core_base, log_mb_s, log_bytes_per_account,
  batch_units, batch_h, missing
)
SELECT
  ts, interval_s, `system`, own + CASE WHEN version IS NULL THEN 0 ELSE 1 END,
  workload, basis, samples, unit_of_work, run_id, accounts, 3600 * accounts / NULLIF(interval_s, 0),
  gcps * interval_s * 1000 / divisor,
  ziips * interval_s * 1000 / divisor,
  ziips_on_cp * interval_s * 1000 / divisor,
  cores * interval_s * 1000 / divisor,
  CASE WHEN gcps IS NOT NULL THEN gcp_pct / gcp_s END,
  CASE WHEN gcps IS NOT NULL THEN gcp_engines / gcp_s END,
  CASE WHEN ziips IS NOT NULL THEN ziip_pct / ziip_s END,
  CASE WHEN ziips IS NOT NULL THEN ziip_engines / ziip_s END,
  cores,
  CASE WHEN cores IS NOT NULL THEN core_base END,
  log_bytes_s / 1e6,
  log_bytes_s * interval_s / divisor,
  units,
  units * interval_s / 3600 / divisor,
  CASE
    WHEN several THEN 'several runs'
    WHEN accounts IS NULL THEN 'accounts'
    WHEN divisor IS NULL THEN 'no accounts done'
    WHEN basis = 'captured' AND NOT one_source THEN 'two sources'
    WHEN COALESCE(gcps, ziips, cores) IS NULL THEN 'processors'
  END
FROM known;
