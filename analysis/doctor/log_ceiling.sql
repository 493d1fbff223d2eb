-- The newest interval of each Db2 log that has a rate or should have one, and which of path, ceiling, waits and processors is missing.
SELECT
  toString(system) AS system, subsystem AS entity, min(ts) AS since, max(ts) AS newest,
  argMax((path, rate_mb_s, ceiling_mb_s, gcp_pct, active_threads, waits_delta, log_write_ms), ts) AS known,
  multiIf(
    isNull(known.2), 'no rate of the log arrives',
    isNull(known.1), 'the path of its log writes is not known',
    isNull(known.3), concat('no ceiling is configured for ', subsystem, ' on ', ifNull(known.1, '')),
    isNull(known.5) AND isNull(known.6) AND isNull(known.7), 'nothing arrives that shows whether threads wait for the log',
    isNull(known.4), 'no utilisation of the processors arrives',
    ''
  ) AS why,
  multiIf(
    isNull(known.2), 'collect the Db2 statistics of the log (db2_log_csv, omegamon_log_activity, omegamon_jsonl)',
    isNull(known.1), 'collect -DISPLAY LOG (db2_display_log), or add the column log_path to db2_log_csv',
    isNull(known.3), concat(
      'add to `log_ceilings` of the site file: {subsystem: ', subsystem, ', path: ', ifNull(known.1, ''),
      ', cec: …, storage: …, from: ', formatDateTime(min(ts), '%Y-%m-%dT%H:%i:%SZ', 'UTC'), ', ceiling_mb_s: …}'
    ),
    isNull(known.4), 'collect RMF of the LPAR (rmf_dds)',
    'add QJSTWTB, active threads or log write waits to the statistics that are collected'
  ) AS advice
FROM ({judged})
WHERE empty({systems:Array(String)}) OR has({systems:Array(String)}, system)
GROUP BY system, subsystem
ORDER BY system, entity
