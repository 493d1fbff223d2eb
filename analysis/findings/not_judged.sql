-- What could not be judged, and what is missing?
-- rule: to watch where a verdict was UNKNOWN or STALE for a tenth of the time or more, a note where it was for less
--
-- The cause is the one that held longest, not that of the newest interval.
SELECT
  system,
  if(unjudged_s >= 0.1 * (unjudged_s + judged_s), 'watch', 'note') AS severity,
  last AS at,
  concat(rule, if(judged_s = 0,
    concat(' cannot judge ', entity),
    concat(': ', entity, ' was not judged for ', toString(round(unjudged_s / 60, 1)), ' of ',
      toString(round((unjudged_s + judged_s) / 60, 1)), ' min, between ', formatDateTime(first, '%H:%i'), ' and ',
      formatDateTime(last, '%H:%i'))
  ), ': ', cause) AS finding
FROM
(
  SELECT
    system, rule, entity,
    sumIf(seconds, unjudged) AS unjudged_s, sumIf(seconds, NOT unjudged) AS judged_s, argMaxIf(why, seconds, unjudged) AS cause,
    minIf(begin, unjudged) AS first, maxIf(end, unjudged) AS last
  FROM
  (
    SELECT
      system, rule, entity, state IN ('UNKNOWN', 'STALE') AS unjudged,
      if(unjudged, splitByString('; ', v.reason)[1], '') AS why,
      sum(ifNull(v.interval_s, 0)) AS seconds,
      min(v.ts) - toIntervalMillisecond(toUInt64(1000 * ifNull(argMin(v.interval_s, v.ts), 0))) AS begin, max(v.ts) AS end
    FROM counterflow.verdict AS v FINAL
    WHERE <chosen v>
    GROUP BY system, rule, entity, unjudged, why
  )
  GROUP BY system, rule, entity
  HAVING countIf(unjudged) > 0
)
