-- How busy were the processors, and when most?
-- rule: a limit where they were at least <processors_busy_pct.limit> % busy in a tenth of the time, to watch where they ever were <processors_busy_pct.watch> %; zIIPs left out
SELECT
  system,
  multiIf(full >= 0.1, 'limit', busiest >= <processors_busy_pct.watch>, 'watch', 'note') AS severity,
  argMin(ts, (-busy, ts)) AS at,
  concat('processors ', toString(round(sum(busy * interval_s) / sum(interval_s), 1)), ' % busy on average, ',
    toString(round(max(busy) AS busiest, 1)), ' % at most',
    if(sum(interval_s * (busy >= <processors_busy_pct.limit>)) / sum(interval_s) AS full > 0,
      concat('; at least <processors_busy_pct.limit> % for ', toString(round(100 * full, 1)), ' % of the time'), '')) AS finding
FROM
(
  SELECT system, ts, interval_s, busy_pct AS busy
  FROM counterflow.processor_load
  WHERE engine_type != 'ziip' AND busy IS NOT NULL AND interval_s > 0 AND consumed_cores IS NULL
    AND <chosen>
)
GROUP BY system
