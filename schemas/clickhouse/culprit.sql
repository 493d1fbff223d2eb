-- What changed when a limit was hit. `schemas/culprit.py` fills in the measures of culprit.yaml.

CREATE OR REPLACE VIEW counterflow.culprit {on_cluster} AS
SELECT
  place,
  {measures}[place] AS measure,
  {titles}[place] AS title,
  {units}[place] AS unit,
  name, before, during, during - before AS change,
  100 * abs(change) / nullIf(sum(abs(change)) OVER (PARTITION BY place), 0) AS explains_pct
FROM
(
  SELECT place, name, amount_before / before_s AS before, amount_during / during_s AS during
  FROM
  (
    SELECT
      place, name, is_name, amount_before, amount_during,
      sumIf(seconds, NOT is_name AND at <= {begin:DateTime64(3, 'UTC')}) OVER (PARTITION BY place, recorder) AS before_s,
      sumIf(seconds, NOT is_name AND at > {begin:DateTime64(3, 'UTC')}) OVER (PARTITION BY place, recorder) AS during_s
    FROM
    (
      -- both in one pass: what each name used, and how long each interval of its recorder took
      SELECT
        place, recorder, name, at, grouping(at) = 1 AS is_name, max(interval_s) AS seconds,
        sumIf(amount, ts <= {begin:DateTime64(3, 'UTC')}) AS amount_before,
        sumIf(amount, ts > {begin:DateTime64(3, 'UTC')}) AS amount_during
      FROM
      (
{measured}
      )
      GROUP BY GROUPING SETS ((place, recorder, name), (place, recorder, ts AS at))
    )
  )
  WHERE is_name AND before_s > 0 AND during_s > 0
) AS rows_of_view
COMMENT 'Rates of the names of each measure behind begin up to until, and behind quiet up to begin, culprit(system = ..., quiet = ..., begin = ..., until = ...); explains_pct is the share of a name in all changes of its measure, up and down.';

CREATE OR REPLACE VIEW counterflow.culprit_period {on_cluster} AS
SELECT
  if(found, newest.1, {systems:Array(String)}[1]) AS system,
  if(found, newest.2 - toIntervalSecond(3600), since - toIntervalSecond(dateDiff('second', since, last))) AS quiet,
  if(found, newest.2, since) AS begin,
  if(found, newest.3, last) AS until
FROM
(
  SELECT
    count() > 0 AS found, argMax((toString(system), onset_ts, end_ts), (end_ts, system, rule, entity)) AS newest,
    greatest({since:DateTime64(3, 'UTC')}, last - toIntervalDay(1)) AS since, {until:DateTime64(3, 'UTC')} AS last
  FROM counterflow.verdict_spell_within(since = {since:DateTime64(3, 'UTC')}, until = {until:DateTime64(3, 'UTC')})
  WHERE has({systems:Array(String)}, system) AND concat(rule, ' ', state) IN ('log_ceiling CRITICAL', 'roce_cap CAPPED')
) AS rows_of_view
COMMENT 'What a board compares, culprit_period(systems = [...], since = ..., until = ...): the newest spell in which a rule raised its alarm within the range, with the hour before; without any the last day of the range, or all of a shorter one, of the first system, with as long before.';
