SELECT ceil(min(interval_s)) AS shortest_s
FROM counterflow.manifest
WHERE interval_s > 0 AND system IN (${system:singlequote}) AND $__timeFilter(ts)
