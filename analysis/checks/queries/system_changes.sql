-- modify_pct: Share of inserts, updates and deletes in the row operations of the time, %; `io_mix.modify_pct`.
SELECT system, sum(modify_pct * row_operations) / nullIf(sumIf(row_operations, modify_pct IS NOT NULL), 0) AS modify_pct
FROM counterflow.io_mix FINAL
WHERE grouping = 'partition' AND <chosen>
GROUP BY system
