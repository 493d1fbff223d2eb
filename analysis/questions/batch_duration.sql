-- How long would the batch take at the pace of each hour? Its units of work over those done in an hour.
-- section: Work and cost
SELECT
  a.system AS system,
  a.workload AS workload,
  toStartOfHour(a.ts - 1) AS hour_begin,
  round(3600 * sum(a.accounts) / nullIf(sumIf(a.interval_s, a.accounts IS NOT NULL), 0)) AS units_per_hour,
  argMaxIf(a.batch_units, a.ts, a.batch_units IS NOT NULL) AS units_of_the_batch,
  round(units_of_the_batch / nullIf(units_per_hour, 0), 2) AS batch_h
FROM counterflow.account_cpu AS a FINAL
WHERE a.basis = 'lpar'
  AND <chosen a>
GROUP BY system, workload, hour_begin
HAVING units_per_hour > 0
ORDER BY hour_begin DESC, system, workload
LIMIT 100
