-- The intervals of a labelled run, by recording. The label is no key: only systems and days of the run are read.
SELECT system, source, toUnixTimestamp64Milli(ts) / 1000 AS end_s, max(interval_s) AS seconds
FROM counterflow.recorded
WHERE run = {run:String}
  AND system IN (SELECT system FROM counterflow.system_dataset WHERE run = {run:String})
  AND ts >= (SELECT min(first_ts) FROM counterflow.system_dataset WHERE run = {run:String})
  AND ts <= (SELECT max(last_ts) FROM counterflow.system_dataset WHERE run = {run:String})
GROUP BY system, source, ts
ORDER BY ts
