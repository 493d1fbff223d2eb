-- How large are replicated transactions? Rows a transaction, and MQ bytes a row where Capture reports them.
-- section: Replication
SELECT
  r.system AS system,
  r.component AS component,
  r.program_schema AS program_schema,
  r.queue AS queue,
  round(sumIf(r.rows_applied, r.transactions_applied IS NOT NULL)
    / nullIf(sumIf(r.transactions_applied, r.rows_applied IS NOT NULL), 0), 2) AS rows_per_transaction_avg,
  round(sumIf(r.mq_bytes, r.rows_published IS NOT NULL)
    / nullIf(sumIf(r.rows_published, r.mq_bytes IS NOT NULL), 0)) AS mq_bytes_per_row,
  round(max(r.largest_transaction_bytes) / 1e6, 2) AS largest_transaction_mb,
  sum(r.transactions_spilled) AS transactions_spilled_total,
  sum(r.queue_full_errors) AS queue_full_errors_total
FROM counterflow.replication AS r FINAL
WHERE <chosen r>
GROUP BY system, component, program_schema, queue
ORDER BY system, component, program_schema, queue
LIMIT 40
