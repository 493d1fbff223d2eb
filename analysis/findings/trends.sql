-- What reaches its limit next?
-- rule: to watch where the daily peaks rise to 100 % within <days_to_limit.watch> days; noted where they do within a year
SELECT
  system,
  if(days_to_limit <= <days_to_limit.watch>, 'watch', 'note') AS severity,
  toDateTime64(last_day, 3, 'UTC') AS at,
  concat(kind, if(instance = '', '', concat(' ', instance)), ' is full ', answer, ': ', toString(round(level_pct, 1)), ' % now, ',
    toString(round(slope_pct_per_day, 2)), ' % more a day over ', toString(days), ' days') AS finding
FROM counterflow.days_to_limit_within(since = {since:DateTime64(3)}, until = {until:DateTime64(3)})
WHERE trend = 'rising' AND days_to_limit <= 366
  AND (empty({systems:Array(String)}) OR has({systems:Array(String)}, system))
