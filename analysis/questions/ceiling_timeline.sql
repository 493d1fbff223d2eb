-- Where is Db2's log at its ceiling or off its path, since when? MB/s of one copy, ms an account of the LPAR.
-- section: Db2 log
SELECT
  system, log, formatDateTime(begin, '%F %T') AS since, state, path, mb_s, ceiling, waiting_pct, sync_pct, gcp_ms, ziip_ms
FROM (
  SELECT
    v.system AS system,
    v.entity AS log,
    v.ts AS ts,
    v.ts - toIntervalMillisecond(toUInt64(1000 * ifNull(v.interval_s, 0))) AS begin,
    v.state AS state,
    l.path AS path,
    round(l.rate_mb_s, 1) AS mb_s,
    l.ceiling_mb_s AS ceiling,
    round(100 * l.waiting_threads / nullIf(l.active_threads, 0), 1) AS waiting_pct,
    round(l.zhl_sync_pct, 1) AS sync_pct,
    round(a.gcp_ms, 3) AS gcp_ms,
    round(a.ziip_ms, 3) AS ziip_ms,
    lagInFrame(tuple(v.state, l.path)) OVER (
      PARTITION BY v.system, v.entity ORDER BY v.ts ROWS BETWEEN 1 PRECEDING AND CURRENT ROW
    ) AS before,
    before != tuple(v.state, l.path) AS changed
  FROM counterflow.verdict AS v FINAL
  LEFT JOIN counterflow.log_load AS l FINAL ON l.system = v.system AND l.subsystem = v.entity AND l.ts = v.ts
  LEFT JOIN (
    -- with several workloads at once nobody knows whose time it was
    SELECT system, ts, any(gcp_ms_per_account) AS gcp_ms, any(ziip_ms_per_account) AS ziip_ms
    FROM counterflow.account_cpu FINAL
    WHERE basis = 'lpar'
    GROUP BY system, ts
    HAVING count() = 1
  ) AS a ON a.system = v.system AND a.ts = v.ts
  WHERE v.rule = 'log_ceiling' AND (NOT v.stale OR v.state = 'STALE')
    AND <chosen v>
)
WHERE changed
ORDER BY system, log, ts
LIMIT 40
