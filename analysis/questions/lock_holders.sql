-- Who held what others waited for while a verdict was raised? Of the pack culprit: holder, object, and the jobs that waited.
-- section: Waits
SELECT
  system,
  object,
  job AS holder,
  groupUniqArray(lock_state) AS held_states,
  max(held_locks) AS locks_held_max,
  arraySort(groupUniqArrayArray(waiting)) AS waiting_jobs,
  count(DISTINCT ts) AS samples,
  min(ts) AS first_seen,
  max(ts) AS last_seen
FROM
(
  SELECT
    system, ts, section,
    -- job, state, status, object: only the object may hold blanks
    splitByChar(' ', instance)[1] AS job, splitByChar(' ', instance)[2] AS lock_state,
    splitByChar(' ', instance)[3] = 'HELD' AS is_held, arrayStringConcat(arraySlice(splitByChar(' ', instance), 4), ' ') AS object,
    value AS held_locks,
    groupUniqArrayIf(job, NOT is_held) OVER (PARTITION BY system, ts, section, object) AS waiting
  FROM counterflow.counter FINAL
  WHERE section IN ('RECORD_LOCK_INFO', 'OBJECT_LOCK_INFO') AND counter = 'LOCKS'
    AND <chosen>
)
WHERE is_held AND notEmpty(arrayFilter(other -> other != job, waiting))
GROUP BY system, object, holder
ORDER BY samples DESC, locks_held_max DESC, system, object, holder
LIMIT 50
