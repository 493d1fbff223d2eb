"""What Grafana and its ClickHouse plugin make of SQL before it runs, for the report and the checks.

Source: the macros of the plugin, 4.0.3 to 4.20 (grafana/clickhouse-datasource, pkg/macros); docs/dashboards.md.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

ALL = "$__all"
"""The value of a variable that stands for all."""


class Range(NamedTuple):
    """The range shown, both ends included, and the seconds of a bucket."""

    begin: datetime
    end: datetime
    bucket_s: int = 60


def bucket_s(begin: datetime, end: datetime, points: int = 400, least_s: int = 1) -> int:
    """Return the seconds of a bucket so that about `points` fit into the range, never below `least_s`."""
    return max(least_s, 1, round((end - begin).total_seconds() / points))


def expand(sql: str, shown: Range, variables: Mapping[str, str | Sequence[str]]) -> str:
    """Return the statement that reaches the server.

    Raises
    ------
    KeyError : a variable has no value.
    """
    sql = re.sub(
        r"\$__conditionalAll\((.*?), \$(\w+)\)",
        lambda m: "1=1" if _is_all(variables[m[2]]) else m[1],
        sql,
        flags=re.DOTALL,
    )
    sql = re.sub(r"\$\{(\w+)(?::(\w+))?\}", lambda m: _value(variables[m[1]], m[2]), sql)
    begin, end = (f"toDateTime({int(moment.timestamp())})" for moment in (shown.begin, shown.end))
    sql = re.sub(r"\$__timeFilter\(([^()]*)\)", rf"\1 >= {begin} AND \1 <= {end}", sql)
    sql = re.sub(
        r"\$__timeInterval\(([^()]*)\)",
        rf"toStartOfInterval(toDateTime(\1), INTERVAL {shown.bucket_s} second)",
        sql,
    )
    for macro, text in (("interval_s", str(shown.bucket_s)), ("fromTime", begin), ("toTime", end)):
        sql = sql.replace(f"$__{macro}", text)
    if left := re.search(r"\$\{?__?\w+", sql):
        raise KeyError(f"{left[0]} is no macro that is known here")
    return sql


def _is_all(value: str | Sequence[str]) -> bool:
    return value in ("", ALL) or list(value) == [ALL]


def _value(value: str | Sequence[str], spelling: str | None) -> str:
    values = [value] if isinstance(value, str) else list(value)
    if spelling == "singlequote":
        return ",".join("'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'" for text in values)
    if spelling == "raw":
        return ",".join(values)
    raise KeyError(f"write ${{name:singlequote}}, not {spelling or 'a bare variable'}: names from data are data")
