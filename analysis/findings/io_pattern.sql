-- Did disk I/O come in bursts, or steadily? Databases gain most from direct-attached NVMe where it comes in bursts.
-- rule: bursts where the busiest tenth of 20 intervals or more has at least half of the transfers, steady where it has at most a fifth, nothing in between or below 1 transfer/s; shares are our choice, the study of NVMe on LinuxONE prints none
SELECT
  system,
  'note' AS severity,
  rates[1].2 AS at,
  concat(if(busiest >= 0.5, 'disk I/O in bursts', 'steady disk I/O'), ': the busiest tenth of ', toString(intervals),
    ' intervals has ', toString(round(100 * busiest, 1)), ' % of the transfers; ', toString(round(rates[1].1, 1)),
    '/s at most, ', toString(round(mean_rate, 1)), ' on average') AS finding
FROM
(
  SELECT
    system, source,
    arraySort(r -> (-r.1, r.2), groupArray((rate, ended))) AS rates,
    length(rates) AS intervals,
    arraySum(rates.1) / intervals AS mean_rate,
    arraySum(arraySlice(rates.1, 1, toUInt32(ceil(intervals / 10)))) / nullIf(arraySum(rates.1), 0) AS busiest
  FROM
  (
    SELECT system, source, d.ts AS ended, sum(assumeNotNull(transfers_per_s)) AS rate
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
