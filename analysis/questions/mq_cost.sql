-- What does MQ carry for Q Replication, and how long does Capture spend in it? Messages and bytes of each send queue; shares of time.
-- section: Replication
SELECT
  r.system AS system,
  r.component AS component,
  r.queue AS queue,
  round(sumIf(r.mq_messages, r.interval_s IS NOT NULL) / nullIf(sumIf(r.interval_s, r.mq_messages IS NOT NULL), 0), 2)
    AS messages_per_s,
  round(sumIf(r.mq_bytes, r.interval_s IS NOT NULL) / nullIf(sumIf(r.interval_s, r.mq_bytes IS NOT NULL), 0) / 1e6, 3)
    AS mb_per_s,
  round(sumIf(r.mq_bytes, r.mq_messages IS NOT NULL) / nullIf(sumIf(r.mq_messages, r.mq_bytes IS NOT NULL), 0))
    AS bytes_per_message,
  round(sumIf(r.mq_put_ms, r.mq_messages IS NOT NULL) / nullIf(sumIf(r.mq_messages, r.mq_put_ms IS NOT NULL), 0), 4)
    AS put_ms_per_message,
  round(sumIf(r.mq_put_ms, r.interval_s IS NOT NULL) / nullIf(sumIf(r.interval_s, r.mq_put_ms IS NOT NULL), 0) / 10, 2)
    AS put_pct_of_time,
  round(sumIf(r.mq_commit_ms, r.interval_s IS NOT NULL) / nullIf(sumIf(r.interval_s, r.mq_commit_ms IS NOT NULL), 0) / 10, 2)
    AS commit_pct_of_time,
  sum(r.queue_full_errors) AS queue_full_errors_total
FROM counterflow.replication AS r FINAL
WHERE (r.mq_messages IS NOT NULL OR r.mq_put_ms IS NOT NULL OR r.mq_commit_ms IS NOT NULL)
  AND <chosen r>
GROUP BY system, component, queue
ORDER BY system, component, queue
LIMIT 40
