-- At which hour of the day (UTC) is the logical database I/O, and what is it? Operations a second of the time recorded.
-- section: Logical database I/O
SELECT
  m.system AS system,
  toHour(m.ts - 1) AS hour,
  round(sum(m.logical_io) / nullIf(sumIf(m.interval_s, m.logical_io IS NOT NULL), 0), 1) AS operations_per_s,
  round(max(m.logical_io_per_s), 1) AS operations_per_s_max,
  round(sum(m.reads) / nullIf(sumIf(m.interval_s, m.reads IS NOT NULL), 0), 1) AS reads_per_s,
  round(sum(m.inserts) / nullIf(sumIf(m.interval_s, m.inserts IS NOT NULL), 0), 1) AS inserts_per_s,
  round(sum(m.other) / nullIf(sumIf(m.interval_s, m.other IS NOT NULL), 0), 1) AS others_per_s
FROM counterflow.io_mix AS m FINAL
WHERE m.grouping = 'partition'
  AND <chosen m>
GROUP BY system, hour
ORDER BY system, hour
LIMIT 500
