-- How much memory was left at the worst moment?
-- rule: to watch where less than 5 % was free or cached
SELECT
  system,
  if(least < 5, 'watch', 'note') AS severity,
  argMin(p.ts, ((free_mb + ifNull(cached_mb, 0)) / size_mb, p.ts)) AS at,
  concat(toString(round(100 * min((free_mb + ifNull(cached_mb, 0)) / size_mb) AS least, 1)), ' % of ',
    toString(round(argMax(size_mb, p.ts) / 1024, 1)), ' GB of memory free or cached at the least') AS finding
FROM counterflow.pool AS p FINAL
WHERE free_mb IS NOT NULL AND size_mb > 0 AND cached_mb IS NOT NULL
  AND (empty({systems:Array(String)}) OR has({systems:Array(String)}, system))
  AND ts > {since:DateTime64(3)} AND ts <= {until:DateTime64(3)}
GROUP BY system
