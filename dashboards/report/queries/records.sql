-- How many rows of counters were recorded, each once.
SELECT sum(row_count) AS records
FROM counterflow.manifest FINAL
WHERE $__timeFilter(ts) AND system IN (${system:singlequote})
