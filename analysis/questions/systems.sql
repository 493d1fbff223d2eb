-- Which systems are there, and from when to when do they have data? The newest first.
-- section: Data and pipeline
SELECT
  d.system AS system,
  min(d.first_ts) AS first_interval_begin,
  max(d.last_ts) AS last_interval_end,
  uniqExact(d.day) AS days
FROM counterflow.system_day AS d
WHERE (empty({systems:Array(String)}) OR has({systems:Array(String)}, d.system)) AND d.last_ts > {since:DateTime64(3)}
  AND d.first_ts <= {until:DateTime64(3)}
GROUP BY system
ORDER BY last_interval_end DESC, system
LIMIT 1000
