-- How long does a record take from the agent to the table? Seconds by the agent's clock, of the manifests.
-- section: Data and pipeline
SELECT
  m.agent_id AS agent_id,
  m.system AS system,
  count() AS manifests,
  round(quantileExact(dateDiff('millisecond', m.collected_at, toDateTime64(m.landed_at, 3, 'UTC')) / 1000), 1) AS delay_s_median,
  round(quantileExact(0.95)(dateDiff('millisecond', m.collected_at, toDateTime64(m.landed_at, 3, 'UTC')) / 1000), 1) AS delay_s_p95,
  round(max(dateDiff('millisecond', m.collected_at, toDateTime64(m.landed_at, 3, 'UTC')) / 1000), 1) AS delay_s_max,
  max(m.landed_at) AS last_landed
FROM counterflow.manifest AS m FINAL
WHERE <chosen m>
GROUP BY agent_id, system
ORDER BY delay_s_p95 DESC, agent_id, system
LIMIT 100
