-- How much work was done, how fast, and did any of it fail?
-- rule: to watch where work failed, else stated; of each system three runs: those that failed, then those with most work
SELECT
  system,
  if(max(failed) > 0, 'watch', 'note') AS severity,
  max(last) AS at,
  concat('work of ', workload, ': ', toString(sumIf(done, operation = '')), ' ', any(unit), ' in ',
    toString(round(sumIf(seconds, operation = ''), 1)), ' s, ',
    toString(round(sumIf(done, operation = '') / sumIf(seconds, operation = ''), 1)), '/s',
    if(max(failed) > 0, concat(', ', toString(max(failed)), ' failed'), ''),
    arrayStringConcat(arraySort(groupArrayIf(
      concat('; ', operation, if(operation = '', '', ' '), toString(round(assumeNotNull(mean_ms), 3)), ' ms on average'),
      mean_ms IS NOT NULL
    )))) AS finding
FROM
(
  SELECT
    system, workload, run_id, operation, any(unit_of_work) AS unit, max(ts) AS last, sum(units) AS done,
    sumIf(interval_s, units IS NOT NULL) AS seconds, max(w.failed) AS failed,
    sum(response_ms * units) / nullIf(sumIf(units, response_ms IS NOT NULL), 0) AS mean_ms
  FROM
  (
    -- A summary of the whole run stands for its intervals.
    SELECT *, max(whole) OVER (PARTITION BY system, workload, run_id, operation) AS summed_up
    FROM
    (
      SELECT system, workload, run_id, operation, unit_of_work, ts, interval_s, units, response_ms, failed, false AS whole
      FROM counterflow.work_done
      WHERE <chosen>
      UNION ALL
      SELECT
        system, workload, run_id, operation, unit_of_work, w.ts, interval_s, ifNull(done, done_delta), response_ms, failed, true
      FROM counterflow.workload AS w FINAL
      WHERE final AND <chosen>
    )
  ) AS w
  WHERE whole = summed_up
  GROUP BY system, workload, run_id, operation
)
GROUP BY system, workload, run_id
HAVING sumIf(seconds, operation = '') > 0
ORDER BY ifNull(max(failed), 0) > 0 DESC, sumIf(done, operation = '') DESC, at
LIMIT 3 BY system
