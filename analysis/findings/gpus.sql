-- How busy was the busiest GPU, and how much of its memory was in use?
-- rule: a limit where it was at least <gpu_busy_pct.limit> % busy in a tenth of the time, to watch where it ever was
SELECT
  system,
  multiIf(full >= 0.1, 'limit', most >= <gpu_busy_pct.limit>, 'watch', 'note') AS severity,
  busiest_at AS at,
  concat('busiest GPU ', gpu, ': ', toString(round(mean, 1)), ' % on average, ', toString(round(most, 1)), ' % at most',
    if(full > 0, concat('; at least <gpu_busy_pct.limit> % for ', toString(round(100 * full, 1)), ' % of the time'), ''),
    if(isNull(memory_mb), '', concat('; ', toString(round(assumeNotNull(memory_mb))), ' MB of memory in use at most'))) AS finding
FROM
(
  SELECT
    system, toString(instance) AS gpu,
    sumIf(value * interval_s, section = 'GPU_UTIL') / sumIf(interval_s, section = 'GPU_UTIL') AS mean,
    maxIf(value, section = 'GPU_UTIL') AS most,
    argMinIf(c.ts, (-value, c.ts), section = 'GPU_UTIL') AS busiest_at,
    sumIf(interval_s, section = 'GPU_UTIL' AND value >= <gpu_busy_pct.limit>) / sumIf(interval_s, section = 'GPU_UTIL') AS full,
    maxOrNullIf(value, section = 'GPU_MEM') AS memory_mb
  FROM counterflow.counter AS c FINAL
  WHERE section IN ('GPU_UTIL', 'GPU_MEM') AND value IS NOT NULL AND interval_s > 0
    AND <chosen>
  GROUP BY system, gpu
  HAVING countIf(section = 'GPU_UTIL') > 0
)
ORDER BY mean DESC, gpu
LIMIT 1 BY system
