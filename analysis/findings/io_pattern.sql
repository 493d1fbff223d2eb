-- Did disk I/O come in bursts, or steadily? Databases gain most from direct-attached NVMe where it comes in bursts.
-- rule: bursts where the busiest tenth of the time has, in 20 intervals or more, at least half of the transfers, steady where it has at most a fifth, nothing in between or below 1 transfer/s; shares are our choice, the study of NVMe on LinuxONE prints none
SELECT
  system,
  'note' AS severity,
  rates[1].2 AS at,
  concat(if(busiest >= 0.5, 'disk I/O in bursts', 'steady disk I/O'), ': the busiest tenth of the time has ',
    toString(round(100 * busiest, 1)), ' % of the transfers in ', toString(intervals), ' intervals; ',
    toString(round(rates[1].1, 1)), '/s at most, ', toString(round(mean_rate, 1)), ' on average') AS finding
FROM
(
  SELECT
    system, source,
    arraySort(r -> (-r.1, r.2), groupArray((rate, ended, seconds))) AS rates,
    length(rates) AS intervals,
    arraySum(rates.3) AS all_s,
    arraySum(r -> r.1 * r.3, rates) / nullIf(all_s, 0) AS mean_rate,
    -- of each interval, what belongs to the busiest tenth of the time
    arrayMap((r, until_s) -> least(r.3, greatest(all_s / 10 - until_s + r.3, 0)), rates, arrayCumSum(rates.3)) AS busy_s,
    arraySum((r, s) -> r.1 * s, rates, busy_s) / nullIf(mean_rate * all_s, 0) AS busiest
  FROM
  (
    SELECT system, source, d.ts AS ended, sum(assumeNotNull(transfers_per_s)) AS rate,
      max(assumeNotNull(d.interval_s)) AS seconds
    FROM counterflow.disk_load AS d
    WHERE leaf
      AND <chosen>
    GROUP BY system, source, ended
    HAVING countIf(transfers_per_s IS NULL) = 0
  )
  GROUP BY system, source
)
WHERE intervals >= 20 AND mean_rate >= 1 AND (busiest >= 0.5 OR busiest <= 0.2)
ORDER BY intervals DESC, source
LIMIT 1 BY system
