"""The SQL of a chart whose rows need no more than a table, a condition, and a value for each bucket."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any


def _mean(of: str | dict[str, str]) -> str:
    [(column, weight)] = of.items() if isinstance(of, dict) else [(of, "interval_s")]
    return f"sum({column} * {weight}) / nullIf(sumIf({weight}, {column} IS NOT NULL), 0)"


def _rate(column: str) -> str:
    return f"sum({column}) / nullIf(sumIf(interval_s, {column} IS NOT NULL), 0)"


def _counter(names: str | list[str]) -> str:
    if isinstance(names, list):
        return f"coalesce({', '.join(map(_counter, names))})"
    return f"sumIf(value * interval_s, counter = '{names}') / nullIf(sumIf(interval_s, counter = '{names}'), 0)"


_VALUES: dict[str, Callable[[Any], str]] = {
    "value": str,
    "mean": _mean,
    "rate": _rate,
    "counter": _counter,
    "peak": lambda column: f"if(count({column}) > 1, max({column}), NULL)",
}
_IN_PLACE_OF_SQL = ("from", "where", "thing", "systems", "each", "over", "rows", "hidden", "of_interval", "with")
_OF_INTERVAL = """\
  intDiv(toInt64OrZero(${at:singlequote}) - 1, 1000) AS at_s,
  if(at_s = 0, $__fromTime, $__timeInterval(at_s)) AS after,
  if(at_s = 0, $__toTime, after + $__interval_s) AS until"""


def with_sql(chart: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a chart with `sql` in place of `from`, `where`, `thing`, the values, `systems` and `over`.

    Parameters
    ----------
    chart : `from` is a table, or a statement in brackets; of its rows those of the chosen systems, for which `where`
        holds. Each of `series` has a value, or the chart: that of a stat, or with `most` that of each `thing`. It is
        `value`, SQL; `mean`, over time, of a column or an expression, or by a weight (`{response_ms: units}`); `rate`,
        a column of amounts a second; `counter`, the mean of the first of its counters that was recorded; or `peak`, the
        highest where there are several, which their mean hides.
        With `systems`, each system has a value, and in it each thing that the columns of `each` name; this aggregate of
        them is drawn, except the peak of a sum or a mean, which is not known. With `over`, the sum of systems is drawn,
        each divided by the time of these rows: what was absent then is 0.
        Where rows of one table do not suffice, `rows` is the SQL from `FROM` on, with `time` of a chart over time; a
        ranking has `thing`, too, a table in `hidden` the SQL of columns that serve links alone. `with` are expressions
        before it; of those, `of_interval` has `after` and `until`: the interval that the variable `at` names, or the
        range.

    Raises
    ------
    ValueError : it has more than one of `from`, `rows` and `sql`, no value or no `thing` where one is needed.
    """
    if not {"from", "rows"} & chart.keys():
        return chart
    if len({"from", "rows", "sql"} & chart.keys()) > 1:
        raise ValueError("a chart has one of `from`, `rows` and `sql`")
    _require(chart)
    sql = _of_table(chart) if "rows" in chart else _by_bucket(chart)
    series = {name: _without(of, _VALUES) for name, of in chart.get("series", {}).items()}
    return {**_without(chart, (*_IN_PLACE_OF_SQL, *_VALUES)), "series": series, "sql": sql}


def _require(chart: dict[str, Any]) -> None:
    """Raise ValueError where SQL would be made of it that draws something else, or that ClickHouse refuses."""
    thing = chart.get("thing")
    if str(chart.get("from")).startswith("counterflow."):
        raise ValueError("`from`: write the table without `counterflow.`")
    if "most" in chart and not isinstance(thing, str):
        raise ValueError("`thing`: with `most` it is the column, or the SQL, that names each line")
    if thing == "system" and "across" not in chart:
        raise ValueError("`thing: system` needs `across: true`; otherwise each line has the name of its system twice")
    if chart.get("open") and "from" in chart and "most" not in chart:
        raise ValueError("`open` with `from` needs `most` and `thing`: nothing else names the lines")


def _of_table(chart: dict[str, Any]) -> str:
    over_time = chart.get("shape") in ("bars", "area", "lines")
    named = [f"{chart['thing']} AS name"] if "thing" in chart else ["time"] if over_time else []
    shown = [f'{_value(of)} AS "{name}"' for name, of in chart.get("series", {}).items()]
    hidden = [f"{sql} AS {name}" for name, sql in chart.get("hidden", {}).items()]
    listed = ",\n  ".join([*named, *shown, *hidden])
    before = _OF_INTERVAL if chart.get("of_interval") else chart.get("with", "").rstrip()
    return f"{'WITH' if before else ''}\n{before}\nSELECT\n  {listed}\n{chart['rows']}".lstrip()


def _by_bucket(chart: dict[str, Any]) -> str:
    of_things = "most" in chart
    of_systems = "systems" in chart or "over" in chart or (of_things and "across" not in chart)
    named = {"figure": chart} if of_things else chart.get("series") or {"Value": chart}
    within = "ts > $__fromTime AND ts <= $__toTime" if chart.get("shape") == "stat" else "$__timeFilter(ts)"
    columns = {"system": "system"} if of_systems else {}
    columns |= {"thing": f"{chart.get('thing')} AS thing"} if of_things else {}
    values = [f'{_value(of)} AS "{name}"' for name, of in named.items()]
    sql = _grouped(chart, within, [*columns, *chart.get("each", ())], [*columns.values(), *values])
    if "over" in chart:
        seconds = _grouped(
            chart["over"], f"interval_s > 0 AND {within}", ["system"], ["system", "sum(interval_s) AS seconds"]
        )
        joined = f"(\n{sql}\n) AS one\nINNER JOIN (\n{seconds}\n) AS recorded USING (time, system)"
        by = ["thing"] if of_things else []
        return _aggregated(joined, by, {name: f'sum(one."{name}" / seconds)' for name in named})
    if "systems" in chart:
        drawn = {name: f'{chart["systems"]}(one."{name}")' for name in named}
        if chart["systems"] != "max":
            drawn |= {name: f'if(count() = 1, any(one."{name}"), NULL)' for name, of in named.items() if "peak" in of}
        return _aggregated(f"(\n{sql}\n) AS one", [], drawn)
    return sql


def _grouped(rows: dict[str, Any], within: str, by: list[str], columns: list[str]) -> str:
    where = f"\n  AND {rows['where']}" if "where" in rows else ""
    order = "" if by else "\nORDER BY time"  # the others are grouped once more
    listed = ",\n  ".join(["$__timeInterval(ts - 1) + $__interval_s AS time", *columns])
    return f"""\
SELECT
  {listed}
FROM {"" if rows["from"].startswith("(") else "counterflow."}{rows["from"].strip()}
WHERE {within} AND system IN (${{system:singlequote}}){where}
GROUP BY {", ".join(["time", *by])}{order}"""


def _aggregated(rows: str, by: list[str], columns: dict[str, str]) -> str:
    keys = ", ".join(["time", *by])
    listed = ", ".join(f'{sql} AS "{name}"' for name, sql in columns.items())
    return f"SELECT {keys}, {listed}\nFROM {rows}\nGROUP BY {keys}\nORDER BY {keys}"


def _value(of: dict[str, Any]) -> str:
    """Return the SQL of the value that a chart or a series has."""
    found = [spelled(of[name]) for name, spelled in _VALUES.items() if name in of]
    if len(found) != 1:
        raise ValueError(f"a value is one of {', '.join(f'`{name}`' for name in _VALUES)}")
    return found[0]


def _without(fields: dict[str, Any], names: Collection[str]) -> dict[str, Any]:
    return {name: of for name, of in fields.items() if name not in names}
