-- The results of log_load, from the definitions in schemas/datasets/log_load.yaml and README.md; how they meet in
-- minutes: docs/decisions/0009-minutes.md.
WITH
  -- whole minutes whose middle lies in the interval; of a short one the minute of its own middle
  (ends, length) -> range(
    if(length < 60, intDiv(2 * ends - length - 1, 120), intDiv(ends - least(length, 86400) - 30, 60) + 1),
    if(length < 60, intDiv(2 * ends - length - 1, 120), intDiv(ends - 30, 60)) + 1
  ) AS minutes_of,
  -- when the first interval of the period began, at most a day before it
  (
    SELECT minOrNull(ts - toIntervalSecond(least(86400, toInt64(greatest(ifNull(interval_s, 0), toFloat64(ifNull(ts - prev_ts, 0)))))))
    FROM counterflow.db_log
    WHERE ts >= {from:DateTime64(3, 'UTC')} AND ts < {to:DateTime64(3, 'UTC')}
  ) AS begun,
  samples AS
  (
    SELECT
      system, subsystem, ts, d.landed_at AS at, d.member AS of_member, log_path, d.copies AS log_copies,
      d.active_threads AS threads, d.zhl_sync_pct AS stated_share, log_rate_mb_s,
      (toUnixTimestamp64Milli(ts) - toUnixTimestamp64Milli(prev_ts)) / 1000 AS apart_s,
      if(apart_s > 0, apart_s, d.interval_s) AS seconds,
      arrayExists(
        x -> ifNull(x.1 < x.2, 0),
        [
          (ci_written, prev_ci_written), (ci_created, prev_ci_created), (write_ios, prev_write_ios),
          (buffer_waits, prev_buffer_waits), (zhl_log_writes, prev_zhl_log_writes),
          (zhl_log_write_fail_sync, prev_zhl_log_write_fail_sync), (log_write_wait_us, prev_log_write_wait_us),
          (log_write_waits, prev_log_write_waits)
        ]
      ) AS fell,
      if(apart_s > 0 AND NOT fell AND ifNull(apart_s <= 2 * d.interval_s, 1), apart_s, NULL) AS counted_s,
      nullIf(d.interval_s, 0) AS delta_s,
      ifNull((ci_written - prev_ci_written) / counted_s, ci_written_delta / delta_s) * 4096 / 1e6 AS all_written,
      ifNull((ci_created - prev_ci_created) / counted_s, ci_created_delta / delta_s) * 4096 / 1e6 AS created,
      if(isNull(counted_s), buffer_waits_delta, buffer_waits - prev_buffer_waits) AS waited,
      (log_write_wait_us - prev_log_write_wait_us) / 1e6 AS waited_s,
      waited_s / counted_s AS waiting,
      if(isNull(counted_s), NULL, 1000 * waited_s / nullIf(log_write_waits - prev_log_write_waits, 0)) AS write_ms,
      if(
        isNull(counted_s), ci_written_delta / nullIf(write_ios_delta, 0),
        (ci_written - prev_ci_written) / nullIf(write_ios - prev_write_ios, 0)
      ) AS cis_an_io,
      ifNull(
        stated_share,
        if(
          isNull(counted_s), NULL,
          100 - 100 * (zhl_log_write_fail_sync - prev_zhl_log_write_fail_sync)
            / nullIf(zhl_log_writes - prev_zhl_log_writes, 0)
        )
      ) AS sync_share,
      if(isNull(prev_ts), NULL, fell) AS restarted,
      isNull(coalesce(ci_written, ci_created, ci_written_delta, ci_created_delta, log_rate_mb_s)) AS hint_only,
      toInt64(toUnixTimestamp(ts)) AS ends, toInt64(round(seconds)) AS length
    FROM counterflow.db_log AS d FINAL
    WHERE ts >= ifNull(begun, {from:DateTime64(3, 'UTC')}) - INTERVAL 61 MINUTE AND ts < {to:DateTime64(3, 'UTC')} + INTERVAL 1 MINUTE
  ),
  minutes AS
  (
    SELECT system, subsystem, ts, arrayJoin(minutes_of(ends, length)) AS minute
    FROM samples
    WHERE length > 0 AND ts >= {from:DateTime64(3, 'UTC')} AND ts < {to:DateTime64(3, 'UTC')}
  ),
  processors AS
  (
    SELECT
      system, engine_type, c.landed_at AS at, c.busy_pct AS busy,
      toInt64(toUnixTimestamp(ts)) AS ends, toInt64(round(c.interval_s)) AS length, least(length, 60) AS weight,
      arrayJoin(minutes_of(ends, length)) AS minute
    FROM counterflow.system_cpu AS c FINAL
    WHERE engine_type IN ('gcp', 'ziip') AND engine = 'all' AND isNotNull(busy_pct) AND length > 0
      AND ts >= ifNull(begun, {from:DateTime64(3, 'UTC')}) - INTERVAL 1 MINUTE AND ts < {to:DateTime64(3, 'UTC')} + INTERVAL 1 DAY
      AND ends - length < toUnixTimestamp({to:DateTime64(3, 'UTC')}) + 60
  ),
  hint_samples AS
  (
    SELECT
      system, subsystem, ts AS hint_ts, at, log_path, log_copies,
      arrayJoin(range(intDiv(ends, 60), intDiv(ends, 60) + if(isNull(log_path) AND isNull(log_copies), 5, 60))) AS minute,
      if(minute < intDiv(ends, 60) + 5, stated_share, NULL) AS share
    FROM samples
    WHERE hint_only AND (isNotNull(log_path) OR isNotNull(log_copies) OR isNotNull(stated_share))
  ),
  busy AS
  (
    SELECT
      m.system AS system, m.subsystem AS subsystem, m.ts AS ts, count() AS processor_rows, max(p.at) AS busy_at,
      sumIf(p.busy * p.weight, p.engine_type = 'gcp') / nullIf(sumIf(p.weight, p.engine_type = 'gcp'), 0) AS gcp,
      sumIf(p.busy * p.weight, p.engine_type = 'ziip') / nullIf(sumIf(p.weight, p.engine_type = 'ziip'), 0) AS ziip
    FROM minutes AS m INNER JOIN processors AS p ON p.system = m.system AND p.minute = m.minute
    GROUP BY system, subsystem, ts
  ),
  hints AS
  (
    SELECT
      m.system AS system, m.subsystem AS subsystem, m.ts AS ts, count() AS hint_rows, max(t.at) AS hints_at,
      argMaxIf(t.log_path, t.hint_ts, isNotNull(t.log_path)) AS hint_path,
      argMaxIf(t.log_copies, t.hint_ts, isNotNull(t.log_copies)) AS hint_copies,
      argMaxIf(t.share, t.hint_ts, isNotNull(t.share)) AS hint_share
    FROM minutes AS m
    INNER JOIN hint_samples AS t ON t.system = m.system AND t.subsystem = m.subsystem AND t.minute = m.minute
    GROUP BY system, subsystem, ts
  ),
  beside AS
  (
    SELECT
      *, ifNull(log_path, hint_path) AS way, ifNull(log_copies, hint_copies) AS of_copies,
      concat(subsystem, '/', ifNull(way, '')) AS of_ceiling
    FROM samples
    LEFT JOIN busy USING (system, subsystem, ts)
    LEFT JOIN hints USING (system, subsystem, ts)
    WHERE ts >= {from:DateTime64(3, 'UTC')} AND ts < {to:DateTime64(3, 'UTC')}
  ),
  ceilings AS
  (
    SELECT system, item AS of_ceiling, ts AS since, value, landed_at AS ceiling_at
    FROM counterflow.config FINAL
    WHERE section = 'log_ceiling' AND name = 'ceiling_mb_s' AND ts < {to:DateTime64(3, 'UTC')}
  ),
  rated AS
  (
    SELECT
      *, all_written / nullIf(of_copies, 0) AS written, coalesce(written, created, log_rate_mb_s) AS rate,
      if(toFloat64OrNull(value) > 0, toFloat64OrNull(value), NULL) AS ceiling
    FROM beside ASOF LEFT JOIN ceilings ON beside.system = ceilings.system AND beside.of_ceiling = ceilings.of_ceiling
      AND beside.ts >= ceilings.since
  )
SELECT
  system, subsystem, ts, toUInt64(1 + ifNull(processor_rows, 0) + ifNull(hint_rows, 0) + isNotNull(value)) AS n,
  greatest(at, ifNull(busy_at, at), ifNull(hints_at, at), ifNull(ceiling_at, at)) AS landed_at, seconds AS interval_s,
  of_member AS member, way AS path, of_copies AS copies, rate AS rate_mb_s,
  multiIf(isNotNull(written), 'written', isNotNull(created), 'created', isNotNull(log_rate_mb_s), 'reported', NULL) AS rate_basis,
  written AS written_mb_s, created AS created_mb_s, ceiling AS ceiling_mb_s,
  if(isNull(value), NULL, since) AS ceiling_since, 100 * rate / ceiling AS ceiling_pct,
  waited AS waits_delta, waiting AS waiting_threads, threads AS active_threads, write_ms AS log_write_ms,
  cis_an_io AS ci_per_io, ifNull(sync_share, hint_share) AS zhl_sync_pct, gcp AS gcp_pct, ziip AS ziip_pct,
  restarted AS reset
FROM rated
