-- How much of its entitlement did a partition consume?
-- rule: a limit where it consumed at least <entitlement_used_pct.limit> % in a tenth of the time, to watch where it ever did
SELECT
  system,
  multiIf(above >= 0.1, 'limit', most >= <entitlement_used_pct.limit>, 'watch', 'note') AS severity,
  argMin(ts, (-entitled_pct, ts)) AS at,
  concat('consumed ', toString(round(sum(consumed_cores * interval_s) / sum(interval_s), 2)), ' of ',
    toString(round(argMax(entitled_cores, ts), 2)), ' entitled processors on average, ',
    toString(round(max(entitled_pct) AS most, 1)), ' % of them at most',
    if(sum(interval_s * (entitled_pct >= <entitlement_used_pct.limit>)) / sum(interval_s) AS above > 0,
      concat('; at least <entitlement_used_pct.limit> % for ', toString(round(100 * above, 1)), ' % of the time'), '')) AS finding
FROM counterflow.processor_load
WHERE entitled_pct IS NOT NULL AND interval_s > 0
  AND <chosen>
GROUP BY system
