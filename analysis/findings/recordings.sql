-- Was a system recorded twice at the same time?
-- rule: to watch where two recordings of one recorder share more than two intervals: sums over that time count it twice
SELECT
  system,
  'watch' AS severity,
  argMax(first, shared_s) AS at,
  concat(source, ' recorded it twice at the same time, for ', toString(round(sum(shared_s))), ' s in all: ',
    'sums count that time twice; give one of the two recordings a name of its own (--system)') AS finding
FROM
(
  SELECT
    system, source, first, usual_s,
    max(last) OVER (
      PARTITION BY system, source ORDER BY first, last ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ) AS last_before,
    dateDiff('millisecond', first, least(last, last_before)) / 1000 AS shared_s
  FROM
  (
    SELECT system, source, boot_id, min(m.ts) AS first, max(m.ts) AS last, quantileExact(0.5)(interval_s) AS usual_s
    FROM counterflow.manifest AS m
    WHERE boot_id IS NOT NULL AND <chosen m>
    GROUP BY system, source, boot_id
  )
)
WHERE shared_s > 2 * usual_s
GROUP BY system, source
