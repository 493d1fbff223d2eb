-- What was measured of each system, by dataset.
SELECT
  system,
  counted AS dataset,
  arrayStringConcat(arraySort(groupUniqArray(toString(source))), ', ') AS sources,
  formatDateTime(min(ts), '%Y-%m-%d %H:%i', 'UTC') AS first,
  formatDateTime(max(ts), '%Y-%m-%d %H:%i', 'UTC') AS last,
  uniqExact(ts) AS intervals,
  sum(row_count) AS records
FROM counterflow.manifest FINAL
WHERE $__timeFilter(ts) AND system IN (${system:singlequote}) AND row_count > 0
GROUP BY system, dataset
ORDER BY system, dataset
LIMIT 500
