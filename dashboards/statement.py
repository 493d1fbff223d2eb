"""The SQL that Grafana sends for a chart, derived from the chart's query: over time, a row per point with its series.

Grafana lists series without any value in its legend. So a series without a value in the range has no rows here.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from counterflow.dashboards.definition import CHOSEN_AT, Chart


def until_chosen(chart: Chart) -> Chart:
    """Return a chart of one figure whose range ends with the interval that the variable `at` names, if it names one.

    On a board that ranks one interval, the figures on top are then of that interval, too.
    """
    at_s = "intDiv(toInt64OrZero(${at:singlequote}) - 1, 1000)"  # the point at the end of a line's bucket is in it
    end = f"least($__toTime, if({at_s} = 0, $__toTime, $__timeInterval({at_s}) + $__interval_s))"
    return chart.model_copy(update={"sql": re.sub(r"\$__toTime\b", lambda _: f"({end})", chart.sql)})


def if_chosen(chart: Chart, family: Sequence[Chart]) -> str:
    """Return the SQL for Grafana that has rows where the menu `figure` names this chart of a family.

    Where the menu names no figure of the family, the first has rows: one menu serves all families of a board.
    The condition is among those of the tables, so that ClickHouse reads nothing for the other figures.
    """
    others = ", ".join(f"'{one.figure}'" for one in family if one is not chart)
    chosen = f"NOT IN ({others})" if chart is family[0] else f"= '{chart.figure}'"
    return statement(chart).replace(CHOSEN_AT, f"${{figure:singlequote}} {chosen} AND {CHOSEN_AT}")


def statement(chart: Chart) -> str:
    """Return the SQL for Grafana, with macros: `place` and `series`, or `series` alone, name a row's `Value`.

    Grafana orders series by these texts (grafana-plugin-sdk-go, `LongToWide`); `place` keeps the order of a stack.
    """
    if chart.shape == "table":
        return _dated(chart)
    if chart.shape == "stat":
        return _against(chart) if chart.against else _compared(chart)
    if chart.shape == "states":
        return _stated(chart)
    if not chart.over_time:
        return chart.query
    points = _open(chart) if chart.open else _known(chart)
    return chart.bucketed(points if chart.shape == "bars" else _stepped(points))


def _stepped(points: str) -> str:
    """Return two rows for each bucket of a line, at its begin and its end: the line keeps its height over the bucket.

    The point nearest to the cursor is then one of the bucket below it. The first is a millisecond after the begin,
    which is the end of the bucket before. A bucket across an end of the range is cut off there.
    """
    half, moment = "toIntervalMillisecond(500 * $__interval_s)", "toIntervalMillisecond(1)"
    first, last = (f"toDateTime64($__{one}Time, 3, 'UTC')" for one in ("from", "to"))
    begin = f"greatest(middle - {half} + {moment}, least({first}, middle + {half} - {moment}))"
    return f"""\
SELECT edge AS time, * EXCEPT (middle)
FROM
(
SELECT time AS middle, * EXCEPT (time) FROM (
{points}
)
)
ARRAY JOIN [{begin}, least(middle + {half}, {last})] AS edge
ORDER BY time, series"""


def _known(chart: Chart) -> str:
    points = ",\n    ".join(
        f"('{place:02}', '{_text(name)}', CAST(\"{name}\" AS Nullable(Float64)))"
        for place, name in enumerate(chart.series, start=1)
    )
    return f"""\
SELECT time, place, series, Value
FROM
(
  SELECT
    time, point.1 AS place, point.2 AS series, {_bridged(chart, "point.3")} AS Value,
    max(point.3 IS NOT NULL) OVER (PARTITION BY place) AS seen
  FROM
  (
{chart.middles}
  )
  ARRAY JOIN [
    {points}
  ] AS point
)
WHERE seen
ORDER BY time, place"""


_NOTHING = "\u00a0"
"""A label of a space: without any, Grafana moves the figure to the middle of its tile."""


def _compared(chart: Chart) -> str:
    """Label the value with its change from that of the day before; nothing where there is none to compare with.

    The values of the range and of the day before it are read once; a sum is compared with that of as long a range.
    """

    def points(sql: str) -> str:
        pairs = "arraySort(groupArray((time, toFloat64(assumeNotNull(Value)))))"
        return f"(SELECT {pairs} FROM (\n{sql}\n) WHERE Value IS NOT NULL)"

    longer = re.sub(r"\$__fromTime\b", "($__fromTime - INTERVAL 1 DAY)", chart.query)
    if chart.total:
        shown = points(chart.query)
        earlier = points(re.sub(r"\$__toTime\b", "($__toTime - INTERVAL 1 DAY)", longer))
        now, then = "arraySum(point -> point.2, shown)", "arraySum(point -> point.2, earlier)"
    else:
        shown = f"arrayFilter(point -> point.1 > $__fromTime, {points(longer)} AS known)"
        earlier = "arrayFilter(point -> point.1 <= shown[-1].1 - toIntervalDay(1), known)"
        now, then = "shown[-1].2", "earlier[-1].2"
    change, unit = {"percent": ("now - then", "points"), "count": ("now - then", "")}.get(
        chart.unit, ("100 * (now - then) / nullIf(then, 0)", "%")
    )
    return f"""\
SELECT point.1 AS time, series, point.2 AS Value
FROM
(
  SELECT
    {shown} AS shown,
    {earlier} AS earlier,
    {now} AS now,
    {then} AS then,
    round({change}, 1) AS change,
    multiIf(
      empty(earlier), '{_NOTHING}',
      {_change("the day before", "none the day before", unit)}) AS series
)
ARRAY JOIN shown AS point
ORDER BY time"""


def _against(chart: Chart) -> str:
    """Label the value with its change from the value that it is compared with."""
    return f"""\
WITH round(100 * (now - then) / nullIf(then, 0), 1) AS change
SELECT
  time,
  multiIf(
    then IS NULL, '{_text(chart.against)} has none',
    {_change(chart.against, f"none in {chart.against}", "%")}) AS series,
  now AS Value
FROM (SELECT time, Value AS now, Against AS then FROM (
{chart.query}
))
ORDER BY time"""


def _change(other: str, none: str, unit: str) -> str:
    """Return the last branches that put a `change` from `then` to `now` into words; without one, `then` is 0."""
    other, none = _text(other), _text(none)
    return f"""\
now = then OR change = 0, 'as {other}',
      change IS NULL, '{none}',
      concat(if(change > 0, '+', ''), toString(change), '{" " * bool(unit)}{unit} on {other}')"""


def _stated(chart: Chart) -> str:
    """Return one row over the range where there are none: Grafana has words of its own for a timeline without rows."""
    return f"""\
SELECT time, time_end, entity, state
FROM
(
  SELECT time, time_end, entity, state FROM (
{chart.query}
  )
  UNION ALL
  SELECT toDateTime64($__fromTime, 3, 'UTC'), toDateTime64($__toTime, 3, 'UTC'), '\u2013', '{_text(chart.empty)}'
  FROM (SELECT count() AS spells FROM (
{chart.query}
  ))
  WHERE spells = 0
)
ORDER BY time"""


def _dated(chart: Chart) -> str:
    """Omit the date of times where the range is a day or less, and the seconds where it is longer."""
    spelling = "if($__toTime - $__fromTime <= 86400, '%H:%i:%S', '%Y-%m-%d %H:%i')"
    replaced = ",\n  ".join(
        f'formatDateTime("{name}", {spelling}, \'UTC\') AS "{name}"'
        for name, series in chart.series.items()
        if series.unit == "time"
    )
    return f"SELECT * REPLACE (\n  {replaced}\n)\nFROM\n(\n{chart.query}\n)" if replaced else chart.query


def _open(chart: Chart) -> str:
    return f"""\
SELECT time, series, {_bridged(chart, "figure")} AS Value
FROM
(
  SELECT time, ifNull(toString(tuple(* EXCEPT (time, Value)).1), '') AS series, Value AS figure
  FROM
  (
{chart.middles}
  )
)
ORDER BY time, series"""


def _bridged(chart: Chart, figure: str) -> str:
    """Return the figure of a bucket; of a line's bucket that is empty since a sample came late, the next figure.

    Elsewhere a null ends the line, where the report ends it (`report.specs.bridge`). Grafana draws on for a constant
    time alone, which is too long for some data and too short for other.
    """
    lines = ", ".join(f"'{_text(name)}'" for name, series in chart.series.items() if series.unstacked)
    if not chart.usual_s or (chart.shape == "bars" and not lines):
        return figure
    known, usual = f"time, {figure} IS NOT NULL", f"if(usual_s = 0, {chart.interval_s}, usual_s)"
    before, after = (
        f"OVER (PARTITION BY series ORDER BY time {order} ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)"
        for order in ("ASC", "DESC")
    )
    return f"""\
if(
      {figure} IS NULL{f" AND series IN ({lines})" if chart.shape == "bars" else ""}
        AND dateDiff('millisecond', maxIf({known}) {before}, minIf({known}) {after})
          <= 1000 * if(bucket_s < 2 * {usual}, greatest(2.0 * bucket_s, 2.5 * {usual}), 1.0 * bucket_s),
      anyLast({figure}) {after}, {figure})"""


def _text(name: str) -> str:
    return name.replace("\\", "\\\\").replace("'", "''")
