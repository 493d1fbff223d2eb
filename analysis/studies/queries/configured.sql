-- The configuration of a run.
SELECT section, system, name, value, toUnixTimestamp64Milli(ts) / 1000 AS since_s
FROM counterflow.config FINAL
WHERE section IN ('run', 'price') AND item = {run:String}
ORDER BY ts
