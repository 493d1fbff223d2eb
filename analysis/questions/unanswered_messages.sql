-- Which inquiry messages wait for a reply? Of the pack operations, at the newest sample: the oldest first, with the job that waits.
-- section: Operations
WITH samples AS (
  SELECT system, splitByChar(' ', instance)[1] AS queue, instance, ts, counter, value
  FROM counterflow.counter FINAL
  WHERE section = 'MESSAGE_QUEUE_INFO'
    AND (empty({systems:Array(String)}) OR has({systems:Array(String)}, system))
    AND ts > {since:DateTime64(3)} AND ts <= {until:DateTime64(3)}
),
texts AS (
  SELECT
    system, item,
    nullIf(argMaxIf(value, ts, name = 'MESSAGE_ID'), '') AS message_id, argMaxIf(value, ts, name = 'FROM_JOB') AS from_job,
    nullIf(argMaxIf(value, ts, name = 'MESSAGE_TEXT'), '') AS text
  FROM counterflow.config FINAL
  WHERE section = 'MESSAGE_QUEUE_INFO' AND ts <= {until:DateTime64(3)}
  GROUP BY system, item
)
SELECT
  s.system AS system,
  s.queue AS queue,
  any(t.message_id) AS message_id,
  any(t.from_job) AS waiting_job,
  round(anyIf(s.value, s.counter = 'AGE') / 60, 1) AS age_min,
  anyIf(s.value, s.counter = 'UNANSWERED') AS unanswered_in_queue,
  any(t.text) AS text,
  s.ts AS sampled_at
FROM samples AS s
LEFT JOIN texts AS t ON t.system = s.system AND t.item = s.instance
WHERE (s.system, s.queue, s.ts) IN (SELECT system, queue, max(ts) FROM samples GROUP BY system, queue)
  AND NOT endsWith(s.instance, ' *NONE')
GROUP BY system, queue, s.instance, sampled_at
ORDER BY age_min DESC, system, queue, s.instance
LIMIT 200
