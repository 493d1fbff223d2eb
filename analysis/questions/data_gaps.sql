-- Where is data missing? Ends of intervals that are further apart than one and a half intervals.
-- section: Data and pipeline
SELECT
  system, source, dataset,
  previous_end AS gap_begin,
  round(gap_s, 1) AS gap_s,
  round(gap_s / nullIf(interval_s, 0), 1) AS intervals_lacking,
  ts AS gap_end
FROM (
  SELECT
    m.system AS system, m.source AS source, m.dataset AS dataset, m.ts AS ts, m.interval_s AS interval_s,
    lagInFrame(toNullable(m.ts)) OVER (
      PARTITION BY m.system, m.source, m.dataset ORDER BY m.ts ROWS BETWEEN 1 PRECEDING AND CURRENT ROW
    ) AS previous_end,
    dateDiff('millisecond', previous_end, m.ts) / 1000 - m.interval_s AS gap_s
  FROM counterflow.recorded AS m
  WHERE <chosen m>
)
WHERE gap_s > interval_s / 2
ORDER BY gap_s DESC, system, source, dataset, gap_begin
LIMIT 50
