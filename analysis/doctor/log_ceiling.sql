-- The newest interval of each Db2 log that has a rate or should have one, and which of path, ceiling, waits and processors are missing.
-- Of several missing inputs the one that was missing longest comes first; a path without a name has no ceiling.
SELECT
  toString(system) AS system, subsystem AS entity, min(ts) AS since, max(ts) AS newest,
  argMax((path, rate_mb_s, ceiling_mb_s, gcp_pct, active_threads, waits_delta, log_write_ms), ts) AS known,
  ifNull(known.1, '') AS on_path,
  arraySort(x -> (-x.1, x.2), arrayFilter(x -> x.5, [
    (countIf(isNull(rate_mb_s)), 1, 'no rate of the log arrives',
      'collect the Db2 statistics of the log (db2_log_csv, omegamon_log_activity, omegamon_jsonl)', isNull(known.2)),
    (countIf(isNull(path)), 2, 'the path of its log writes is not known',
      'collect -DISPLAY LOG (db2_display_log), or add the column log_path to db2_log_csv', isNull(known.1)),
    (countIf(isNull(ceiling_mb_s)), 3, concat('no ceiling is configured for ', subsystem, ' on ', on_path),
      concat('add to `log_ceilings` of the site file: {subsystem: ', subsystem, ', path: ', on_path,
        ', cec: …, storage: …, from: ', formatDateTime(min(ts), '%Y-%m-%dT%H:%i:%SZ', 'UTC'), ', ceiling_mb_s: …}'),
      isNull(known.3) AND isNotNull(known.1)),
    (countIf(isNull(active_threads) AND isNull(waits_delta) AND isNull(log_write_ms)), 4,
      'nothing arrives that shows whether threads wait for the log',
      'add QJSTWTB, active threads or log write waits to the statistics that are collected',
      isNull(known.5) AND isNull(known.6) AND isNull(known.7)),
    (countIf(isNull(gcp_pct)), 5, 'no utilisation of the processors arrives', 'collect RMF of the LPAR (rmf_dds)',
      isNull(known.4))
  ])) AS lacking,
  arrayStringConcat(arrayMap(x -> x.3, lacking), '; ') AS why,
  arrayStringConcat(arrayMap(x -> x.4, lacking), '; ') AS advice
FROM ({judged})
WHERE empty({systems:Array(String)}) OR has({systems:Array(String)}, system)
GROUP BY system, subsystem
ORDER BY system, entity
