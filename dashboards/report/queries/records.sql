-- How many rows of counters were recorded, each once.
SELECT sum(row_count) AS records
FROM counterflow.recorded
WHERE $__timeFilter(ts) AND system IN (${system:singlequote})
