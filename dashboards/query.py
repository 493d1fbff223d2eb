"""The SQL of a chart whose rows need no more than a table, a condition, and a value for each bucket."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any


def _mean(column: str) -> str:
    return f"sum({column} * interval_s) / nullIf(sumIf(interval_s, {column} IS NOT NULL), 0)"


def _counter(names: str | list[str]) -> str:
    if isinstance(names, list):
        return f"coalesce({', '.join(map(_counter, names))})"
    return f"sumIf(value * interval_s, counter = '{names}') / nullIf(sumIf(interval_s, counter = '{names}'), 0)"


_VALUES: dict[str, Callable[[Any], str]] = {
    "value": str,
    "mean": _mean,
    "counter": _counter,
    "peak": lambda column: f"if(count() > 1, max({column}), NULL)",
}


def with_sql(chart: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a chart with `sql` in place of `from`, `where`, `thing`, and the values.

    Parameters
    ----------
    chart : `from` is a table, or a statement in brackets; of its rows those of the chosen systems, for which `where`
        holds. Each of `series` has a value, or the chart: that of a stat, or with `most` that of each `thing`. It is
        `value`, SQL; `mean`, over time, of a column or an expression; `counter`, the mean of the first of its counters
        that was recorded; or `peak`, the highest where there are several, which their mean hides.

    Raises
    ------
    ValueError : it has `sql`, too, or no value where one is needed.
    """
    if "from" not in chart:
        return chart
    if "sql" in chart:
        raise ValueError("`from` and `sql`: a chart has one of them")
    if "most" in chart:
        apart = [] if chart.get("across") else ["system"]
        by, columns = [*apart, "thing"], [*apart, f"{chart.get('thing')} AS thing", f"{_value(chart)} AS figure"]
    else:
        by = ["system"] if "systems" in chart else []
        columns = [
            *by,
            *(f'{_value(of)} AS "{name}"' for name, of in (chart.get("series") or {"Value": chart}).items()),
        ]
    within = "ts > $__fromTime AND ts <= $__toTime" if chart.get("shape") == "stat" else "$__timeFilter(ts)"
    listed = ",\n  ".join(columns)
    where = f"\n  AND {chart['where']}" if "where" in chart else ""
    order = "" if by else "\nORDER BY time"  # the others are aggregated once more
    sql = f"""\
SELECT
  $__timeInterval(ts - 1) + $__interval_s AS time,
  {listed}
FROM {"" if chart["from"].startswith("(") else "counterflow."}{chart["from"].strip()}
WHERE {within} AND system IN (${{system:singlequote}}){where}
GROUP BY {", ".join(["time", *by])}{order}"""
    series = {name: _without(of, _VALUES) for name, of in chart.get("series", {}).items()}
    return {**_without(chart, ("from", "where", "thing", *_VALUES)), "series": series, "sql": sql}


def _value(of: dict[str, Any]) -> str:
    found = [spelled(of[name]) for name, spelled in _VALUES.items() if name in of]
    if len(found) != 1:
        raise ValueError(f"with `from`, a value is one of {', '.join(f'`{name}`' for name in _VALUES)}")
    return found[0]


def _without(fields: dict[str, Any], names: Collection[str]) -> dict[str, Any]:
    return {name: of for name, of in fields.items() if name not in names}
