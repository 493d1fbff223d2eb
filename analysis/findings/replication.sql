-- How far behind was the target of Q Replication?
-- rule: to watch where the end-to-end latency ever exceeded <replication_latency_ms.watch/1000> s
SELECT
  system,
  if(max(end_to_end_ms) > <replication_latency_ms.watch>, 'watch', 'note') AS severity,
  argMin(r.ts, (-end_to_end_ms, r.ts)) AS at,
  concat('queue ', queue, if(program_schema = '', '', concat(' (', program_schema, ')')), ': end-to-end latency ',
    toString(round(sum(end_to_end_ms * transactions) / sum(transactions) / 1000, 2)), ' s on average, ',
    toString(round(max(end_to_end_ms) / 1000, 2)), ' s at most') AS finding
FROM counterflow.replication_lag AS r
WHERE end_to_end_ms IS NOT NULL AND transactions > 0
  AND <chosen>
GROUP BY system, program_schema, queue
