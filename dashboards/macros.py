"""Expansion of SQL as Grafana and its ClickHouse plugin do it before it runs, for the report and the checks.

Source: macros of the plugin, 4.0.3 to 4.20 (grafana/clickhouse-datasource, pkg/macros, src/data/CHDatasource.ts), and
the steps of Grafana's intervals (packages/grafana-data, rangeutil.ts); docs/dashboards.md lists the macros known here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

ALL = "$__all"
"""The value of a variable that stands for all."""


class All(tuple[str, ...]):
    """All options, chosen as `All`: Grafana lists every option, and `$__conditionalAll` drops its condition."""


class Range(NamedTuple):
    """The range shown, both ends included, and the seconds of a bucket."""

    begin: datetime
    end: datetime
    bucket_s: int = 60


_STEPS = (
    *((1.5, 1), (3.5, 2), (7.5, 5), (12.5, 10), (17.5, 15), (25, 20), (45, 30), (90, 60), (210, 120), (450, 300)),
    *((750, 600), (1050, 900), (1500, 1200), (2700, 1800), (5400, 3600), (9000, 7200), (16_200, 10_800)),
    *((32_400, 21_600), (86_400, 43_200), (604_800, 86_400), (1_814_400, 604_800), (3_628_800, 2_592_000)),
)
"""Pairs of an upper limit and the bucket used below it, seconds; beyond the last, a year."""


def bucket_s(begin: datetime, end: datetime, points: int = 400, least_s: int = 1) -> int:
    """Return the seconds of a bucket: a round number, at least `least_s`, so that about `points` fit into the range."""
    exact_s = (end - begin).total_seconds() / points
    if exact_s <= least_s:
        return least_s
    return max(least_s, next((step_s for below_s, step_s in _STEPS if exact_s < below_s), 31_536_000))


def expand(sql: str, shown: Range, variables: Mapping[str, str | Sequence[str]]) -> str:
    """Return the statement that reaches the server.

    The values of variables are inserted last, so that a value that looks like a macro stays a value.

    Raises
    ------
    KeyError : a variable has no value, or a macro is not known here.
    """

    def conditional(arguments: list[str]) -> str:
        condition, name = arguments
        return "1=1" if _is_all(variables[name.strip().strip("${}")]) else condition

    begin, end = (f"toDateTime({int(moment.timestamp())})" for moment in (shown.begin, shown.end))
    sql = replace(sql, "conditionalAll", 2, conditional)
    sql = replace(sql, "timeFilter", 1, lambda a: f"{a[0]} >= {begin} AND {a[0]} <= {end}")
    grid = f"INTERVAL {shown.bucket_s} second"
    sql = replace(sql, "timeInterval", 1, lambda a: f"toStartOfInterval(toDateTime({a[0]}), {grid})")
    for macro, text in (("interval_s", str(shown.bucket_s)), ("fromTime", begin), ("toTime", end)):
        sql = re.sub(rf"\$__{macro}\b", text, sql)
    if unknown := re.search(r"\$\{?__\w+", sql):
        raise KeyError(f"{unknown[0]} is no macro that is known here")
    if bare := re.search(r"\$[a-zA-Z]\w*", sql):
        raise KeyError(f"write ${{{bare[0][1:]}:singlequote}}, not {bare[0]}: names from data are data")
    return re.sub(r"\$\{(\w+)(?::(\w+))?\}", lambda m: _value(m[1], variables[m[1]], m[2]), sql)


def replace(sql: str, macro: str, count: int, text: Callable[[list[str]], str]) -> str:
    """Replace every `$__macro(arguments)` by `text(arguments)`, from the last to the first, since they may be nested.

    Raises
    ------
    KeyError : the number of arguments is not `count`, or there is no closing bracket.
    """
    head = f"$__{macro}("
    while (at := sql.rfind(head)) >= 0:
        arguments, end = _arguments(sql, at + len(head))
        if len(arguments) != count:
            raise KeyError(f"{head[:-1]} takes {count} arguments, not {len(arguments)}")
        sql = sql[:at] + text(arguments) + sql[end:]
    return sql


def _arguments(sql: str, start: int) -> tuple[list[str], int]:
    """Return the arguments, split at commas outside of brackets, and the position after the closing bracket."""
    depth, begin, found = 1, start, []
    for bracket in re.compile(r"[(),]").finditer(sql, start):
        depth += {"(": 1, ")": -1}.get(bracket[0], 0)
        if depth == 0 or (depth == 1 and bracket[0] == ","):
            found.append(sql[begin : bracket.start()].strip())
            begin = bracket.end()
        if depth == 0:
            return found, bracket.end()
    raise KeyError(f"no closing bracket after {sql[start : start + 20]}")


def _is_all(value: str | Sequence[str]) -> bool:
    return isinstance(value, All) or value in ("", ALL) or list(value) == [ALL]


def _value(name: str, value: str | Sequence[str], spelling: str | None) -> str:
    values = [value] if isinstance(value, str) else list(value) or [""]
    if spelling == "singlequote":
        return ",".join("'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'" for text in values)
    if spelling == "raw":
        return ",".join(values)
    raise KeyError(f"write ${{{name}:singlequote}}, not ${{{name}}}: names from data are data")
