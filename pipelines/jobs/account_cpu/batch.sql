-- The results of account_cpu, from the definitions in schemas/datasets/account_cpu.yaml and README.md; how they
-- meet in minutes: docs/decisions/0009-minutes.md.
WITH
  -- as in log_load
  (ends, length) -> range(
    if(length < 60, intDiv(2 * ends - length - 1, 120), intDiv(ends - least(length, 86400) - 30, 60) + 1),
    if(length < 60, intDiv(2 * ends - length - 1, 120), intDiv(ends - 30, 60)) + 1
  ) AS minutes_of,
  -- when the first interval of the period began, at most a day before it
  (
    SELECT minOrNull(ts - toIntervalSecond(least(86400, toInt64(greatest(ifNull(interval_s, 0), toFloat64(ifNull(ts - prev_ts, 0)))))))
    FROM counterflow.workload
    WHERE ts >= {from:DateTime64(3, 'UTC')} AND ts < {to:DateTime64(3, 'UTC')}
  ) AS begun,
  work AS
  (
    SELECT
      system, workload, run_id, ts, w.unit_of_work AS unit, w.landed_at AS at, operation = '' AND ifNull(final, false) = false AS whole,
      (toUnixTimestamp64Milli(ts) - toUnixTimestamp64Milli(prev_ts)) / 1000 AS apart_s,
      if(apart_s > 0, apart_s, w.interval_s) AS seconds,
      multiIf(
        NOT whole, NULL,
        isNull(prev_ts), done_delta,
        apart_s > 0 AND done >= prev_done AND ifNull(apart_s <= 2 * w.interval_s, 1), done - prev_done,
        NULL
      ) AS units,
      toInt64(toUnixTimestamp(ts)) AS ends, toInt64(round(seconds)) AS length,
      toInt64(60 * length(minutes_of(ends, length))) AS of_minutes_s, least(length, of_minutes_s) AS wanted
    FROM counterflow.workload AS w FINAL
    WHERE ts >= {from:DateTime64(3, 'UTC')} AND ts < {to:DateTime64(3, 'UTC')}
  ),
  done AS
  (
    SELECT
      system, workload, ts, count() AS work_rows, max(at) AS done_at, max(if(whole, run_id, NULL)) AS run,
      min(if(whole, run_id, NULL)) != run AS several, max(if(whole, unit, NULL)) AS called, max(if(whole, seconds, NULL)) AS lasted,
      if(several, NULL, max(units)) AS finished, max(if(whole AND length > 0, wanted, NULL)) AS wanted_s,
      -- logs add up: what they wrote in whole minutes is divided by whole minutes, however short the interval
      max(if(whole AND length > 0, of_minutes_s, NULL)) AS minutes_s
    FROM work
    GROUP BY system, workload, ts
  ),
  minutes AS
  (
    -- several runs at one time meet the same rows, each for itself
    SELECT system, workload, ts, arrayJoin(minutes_of(ends, length)) AS minute
    FROM work
    WHERE whole AND length > 0
  ),
  processors AS
  (
    SELECT
      system, ts, engine_type AS kind, c.landed_at AS at, c.interval_s AS lasts,
      if(engine_type = 'core', if(isNull(coalesce(physical_consumed_cores, cpu_ms)), 'logical', 'physical'), NULL) AS base,
      if(engine_type = 'core', NULL, busy_pct) AS pct, if(engine_type = 'core', NULL, logical_engines) AS engines,
      if(
        engine_type = 'core',
        coalesce(
          physical_consumed_cores, cpu_ms / 1000 / nullIf(c.interval_s, 0),
          if(isNull(cpu_ms) AND cpu_base = 'logical', (user_pct + sys_pct) / 100 * logical_engines, NULL)
        ),
        busy_pct / 100 * logical_engines
      ) AS used
    FROM counterflow.system_cpu AS c FINAL
    WHERE engine_type IN ('gcp', 'ziip', 'core') AND engine = 'all' AND isNotNull(used)
      AND ts >= ifNull(begun, {from:DateTime64(3, 'UTC')}) - INTERVAL 1 MINUTE AND ts < {to:DateTime64(3, 'UTC')} + INTERVAL 1 DAY
  ),
  logs AS
  (
    SELECT
      system, ts, source, d.landed_at AS at,
      (toUnixTimestamp64Milli(ts) - toUnixTimestamp64Milli(prev_ts)) / 1000 AS apart_s,
      if(apart_s > 0, apart_s, d.interval_s) AS lasts,
      if(
        apart_s > 0 AND ifNull(apart_s <= 2 * d.interval_s, 1)
          AND ifNull(ci_written >= prev_ci_written, 1) AND ifNull(ci_created >= prev_ci_created, 1),
        apart_s, NULL
      ) AS counted_s,
      coalesce(
        4096 * ifNull((ci_written - prev_ci_written) / counted_s, ci_written_delta / nullIf(d.interval_s, 0)) / nullIf(copies, 0),
        4096 * ifNull((ci_created - prev_ci_created) / counted_s, ci_created_delta / nullIf(d.interval_s, 0)),
        1e6 * log_rate_mb_s
      ) AS used
    FROM counterflow.db_log AS d FINAL
    WHERE isNotNull(coalesce(ci_written, ci_created, ci_written_delta, ci_created_delta, log_rate_mb_s))
      AND ts >= ifNull(begun, {from:DateTime64(3, 'UTC')}) - INTERVAL 1 MINUTE AND ts < {to:DateTime64(3, 'UTC')} + INTERVAL 1 DAY
  ),
  spaces AS
  (
    SELECT
      system, ts, source, max(j.landed_at) AS at, j.interval_s AS lasts, count() AS space_rows,
      sum(gcp_ms) / 1000 / lasts AS gcp, sum(ziip_ms) / 1000 / lasts AS ziip, sum(ziip_on_cp_ms) / 1000 / lasts AS ziip_on_cp
    FROM counterflow.job AS j FINAL
    WHERE isNotNull(gcp_ms) AND j.interval_s >= 1
      AND ts >= ifNull(begun, {from:DateTime64(3, 'UTC')}) - INTERVAL 1 MINUTE AND ts < {to:DateTime64(3, 'UTC')} + INTERVAL 1 DAY
    GROUP BY system, ts, source, lasts
  ),
  beside AS
  (
    SELECT
      *, toInt64(toUnixTimestamp(ts)) AS ends, toInt64(round(lasts)) AS length, least(length, 60) AS weight,
      arrayJoin(minutes_of(ends, length)) AS minute
    FROM
    (
      SELECT
        'lpar' AS basis, kind, system, ts, at, lasts, CAST(NULL, 'Nullable(String)') AS source, base, pct, engines, used,
        CAST(NULL, 'Nullable(Float64)') AS ziip, CAST(NULL, 'Nullable(Float64)') AS ziip_on_cp, 1 AS counted
      FROM processors
      UNION ALL
      SELECT 'lpar', 'log', system, ts, at, lasts, source, NULL, NULL, NULL, used, NULL, NULL, 1 FROM logs
      UNION ALL
      SELECT
        'captured', 'space', system, ts, at, lasts, source, NULL, NULL, NULL, gcp, spaces.ziip, spaces.ziip_on_cp, space_rows
      FROM spaces
    )
    -- rows that end after the period meet its intervals only where they begin before its end
    WHERE length > 0 AND ends - length < toUnixTimestamp({to:DateTime64(3, 'UTC')}) + 60
  ),
  sums AS
  (
    SELECT
      m.system AS system, m.workload AS workload, b.basis AS basis, m.ts AS ts, sum(b.counted) AS beside_rows, max(b.at) AS beside_at,
      toFloat64(sumIf(b.weight, b.kind = 'gcp')) AS gcp_s, toFloat64(sumIf(b.weight, b.kind = 'ziip')) AS ziip_s,
      toFloat64(sumIf(b.weight, b.kind = 'core')) AS core_s, toFloat64(sumIf(b.weight, b.kind = 'log')) AS log_s,
      toFloat64(sumIf(b.weight, b.kind = 'space')) AS space_s,
      sumIf(b.pct * b.weight, b.kind = 'gcp') / gcp_s AS gcp_busy, sumIf(b.engines * b.weight, b.kind = 'gcp') / gcp_s AS gcp_online,
      sumIf(b.pct * b.weight, b.kind = 'ziip') / ziip_s AS ziip_busy,
      sumIf(b.engines * b.weight, b.kind = 'ziip') / ziip_s AS ziip_online,
      sumIf(b.used * b.weight, b.kind = 'gcp') AS gcp_used, sumIf(b.used * b.weight, b.kind = 'ziip') AS ziip_used,
      sumIf(b.used * b.weight, b.kind = 'core') AS core_used, max(b.base) AS base,
      sumIf(b.used * b.weight, b.kind = 'log') AS log_used,
      sumIf(b.used * b.weight, b.kind = 'space') AS space_gcp, sumIf(b.ziip * b.weight, b.kind = 'space') AS space_ziip,
      sumIf(b.ziip_on_cp * b.weight, b.kind = 'space') AS space_ziip_on_cp,
      countIf(b.kind = 'log' AND isNull(b.used)) = 0 AS logs_known, uniqExact(b.source) = 1 AS one_source
    FROM minutes AS m INNER JOIN beside AS b ON b.system = m.system AND b.minute = m.minute
    GROUP BY system, workload, basis, ts
  ),
  rows_of_results AS
  (
    SELECT *
    FROM (SELECT *, arrayJoin(['lpar', 'captured']) AS basis FROM done) AS bases
    LEFT JOIN sums USING (system, workload, basis, ts)
    WHERE basis = 'lpar' OR isNotNull(beside_rows)
  ),
  batches AS
  (
    SELECT system, item AS workload, 'lpar' AS basis, ts AS since, value, landed_at AS batch_at
    FROM counterflow.config FINAL
    WHERE section = 'batch' AND name = 'units_total' AND ts < {to:DateTime64(3, 'UTC')}
  ),
  known AS
  (
    SELECT
      *, 0.95 * wanted_s AS enough, nullIf(finished, 0) AS divisor,
      if(basis = 'lpar', if(gcp_s >= enough, gcp_used / gcp_s, NULL), if(space_s >= enough AND one_source, space_gcp / space_s, NULL)) AS gcps,
      if(basis = 'lpar', if(ziip_s >= enough, ziip_used / ziip_s, NULL), if(space_s >= enough AND one_source, space_ziip / space_s, NULL)) AS ziips,
      if(basis = 'captured' AND space_s >= enough AND one_source, space_ziip_on_cp / space_s, NULL) AS ziips_on_cp,
      if(core_s >= enough, core_used / core_s, NULL) AS cores,
      if(
        one_source AND logs_known AND NOT ifNull(several, 0) AND log_s >= 0.95 * minutes_s
          AND abs(log_s - round(log_s / minutes_s) * minutes_s) <= 0.05 * minutes_s,
        log_used / minutes_s, NULL
      ) AS log_bytes_s,
      if(toFloat64OrNull(value) > 0, toFloat64OrNull(value), NULL) AS of_batch
    FROM rows_of_results ASOF LEFT JOIN batches
      ON rows_of_results.system = batches.system AND rows_of_results.workload = batches.workload
      AND rows_of_results.basis = batches.basis AND rows_of_results.ts >= batches.since
  )
SELECT
  system, workload, basis, ts,
  toUInt64(if(basis = 'lpar', work_rows, 0) + ifNull(beside_rows, 0) + isNotNull(value)) AS n,
  greatest(done_at, ifNull(beside_at, done_at), ifNull(batch_at, done_at)) AS landed_at, lasted AS interval_s,
  if(basis = 'lpar', work_rows, 0) AS samples, called AS unit_of_work, run AS run_id, finished AS accounts,
  3600 * finished / nullIf(lasted, 0) AS accounts_per_hour,
  1000 * gcps * lasted / divisor AS gcp_ms_per_account,
  1000 * ziips * lasted / divisor AS ziip_ms_per_account,
  1000 * ziips_on_cp * lasted / divisor AS ziip_on_cp_ms_per_account,
  1000 * cores * lasted / divisor AS core_ms_per_account,
  if(isNull(gcps), NULL, gcp_busy) AS gcp_pct, if(isNull(gcps), NULL, gcp_online) AS gcp_engines,
  if(isNull(ziips), NULL, ziip_busy) AS ziip_pct, if(isNull(ziips), NULL, ziip_online) AS ziip_engines,
  cores AS cores_used, if(isNull(cores), NULL, base) AS core_base,
  log_bytes_s / 1e6 AS log_mb_s, log_bytes_s * lasted / divisor AS log_bytes_per_account,
  of_batch AS batch_units, of_batch * lasted / 3600 / divisor AS batch_h,
  multiIf(
    ifNull(several, 0), 'several runs', isNull(finished), 'accounts', isNull(divisor), 'no accounts done',
    basis = 'captured' AND NOT one_source, 'two sources', isNull(coalesce(gcps, ziips, cores)), 'processors', NULL
  ) AS missing
FROM known
