-- What was measured of each system, by dataset; `listed` counts all rows.
SELECT
  system,
  dataset,
  arrayStringConcat(arraySort(groupUniqArray(toString(source))), ', ') AS sources,
  formatDateTime(min(ts), '%Y-%m-%d %H:%i', 'UTC') AS first,
  formatDateTime(max(ts), '%Y-%m-%d %H:%i', 'UTC') AS last,
  uniqExact(ts) AS intervals,
  sum(row_count) AS records,
  count() OVER () AS listed
FROM counterflow.recorded
WHERE $__timeFilter(ts) AND system IN (${system:singlequote})
GROUP BY system, dataset
ORDER BY system, dataset
LIMIT 500
