-- Which inquiry messages wait for a reply? Of the pack operations, at the newest sample: the oldest first, with the job that waits.
-- section: Operations
WITH newest AS (
  SELECT system, max(ts) FROM counterflow.counter
  WHERE section = 'MESSAGE_QUEUE_INFO' AND counter = 'AGE'
    AND <chosen>
  GROUP BY system
)
SELECT
  s.system AS system,
  splitByChar(' ', s.instance)[1] AS queue,
  round(any(s.value) / 60, 1) AS age_min,
  nullIf(argMaxIf(c.value, c.ts, c.name = 'MESSAGE_ID'), '') AS message_id,
  nullIf(argMaxIf(c.value, c.ts, c.name = 'FROM_JOB'), '') AS waiting_job,
  nullIf(argMaxIf(c.value, c.ts, c.name = 'MESSAGE_TEXT'), '') AS text,
  s.ts AS sampled_at
FROM counterflow.counter AS s
LEFT JOIN counterflow.config AS c ON c.system = s.system AND c.section = s.section AND c.item = s.instance
WHERE s.section = 'MESSAGE_QUEUE_INFO' AND s.counter = 'AGE' AND NOT endsWith(s.instance, ' *NONE') AND (s.system, s.ts) IN newest
GROUP BY system, s.instance, sampled_at
ORDER BY age_min DESC, system, s.instance
LIMIT 200
