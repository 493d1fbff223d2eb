-- Which inquiry messages wait for a reply? Of the pack operations, at the newest sample: the oldest first, with the job that waits.
-- section: Operations
SELECT
  m.system AS system,
  m.queue AS queue,
  round(m.age_min, 1) AS age_min,
  m.message_id AS message_id,
  m.waiting_job AS waiting_job,
  m.text AS text,
  m.sampled_at AS sampled_at
FROM counterflow.unanswered_message_within(
  since = {since:DateTime64(3)}, until = {until:DateTime64(3)}, systems = {systems:Array(String)}
) AS m
ORDER BY age_min DESC, system, queue
LIMIT 200
