-- When is it full? The trend of the daily peaks of space, processors, memory, links and logs, in days to 100 %.
-- section: Overview
SELECT
  system,
  kind,
  instance,
  answer,
  level_pct,
  slope_pct_per_day,
  days_to_limit,
  days_to_limit_low,
  days_to_limit_high,
  days,
  last_day
FROM counterflow.days_to_limit_within(since = {since:DateTime64(3)}, until = {until:DateTime64(3)})
WHERE empty({systems:Array(String)}) OR has({systems:Array(String)}, system)
ORDER BY days_to_limit IS NULL, days_to_limit, level_pct DESC, system, kind, instance
LIMIT 200
