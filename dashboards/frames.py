"""A query's result, and how Grafana converts it before it draws it: kinds of columns, series and their names.

Source: grafana-plugin-sdk-go, data/time_series.go (long to wide); packages/grafana-data, fieldState.ts (names);
grafana/clickhouse-datasource, pkg/converters/registry.go (types). An error or a silent loss there is raised here.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Literal, NamedTuple

import orjson

from counterflow.base.clickhouse import ClickHouse, Settings

Kind = Literal["time", "number", "text", "other"]


class FrameError(ValueError):
    """Grafana would show an error, nothing, or something other than the rows; the text states the remedy."""


class Column(NamedTuple):
    """A column of a result, with ClickHouse's name of its type."""

    name: str
    type: str

    @property
    def kind(self) -> Kind:
        """How Grafana interprets the values; `other` are those that it shows as JSON or cannot read."""
        inner = re.sub(r"^(?:LowCardinality|Nullable)\((.*)\)$", r"\1", self.type)
        if inner != self.type:
            return Column(self.name, inner).kind
        if re.match(r"DateTime|Date", inner):
            return "time"
        if re.fullmatch(r"U?Int(8|16|32|64)|(B?Float|Decimal).*", inner):
            return "number"
        if re.match(r"String|Bool|Enum|IPv[46]", inner):
            return "text"
        return "other"


class Result(NamedTuple):
    """A query's result; each row holds a value per column."""

    columns: Sequence[Column]
    rows: Sequence[Sequence[Any]]


_WIRE: Settings = {
    "default_format": "JSONCompact",
    "output_format_json_quote_64bit_integers": 0,
    "output_format_json_quote_denormals": 1,
}


def fetch(client: ClickHouse, sql: str) -> Result:
    """Return the result of a statement; times are text in UTC, `inf` and `nan` are text.

    Raises
    ------
    ClickHouseError : the server refused the statement.
    httpx.TransportError : the server does not answer.
    """
    answer = orjson.loads(client.post(sql, settings=_WIRE))
    return Result([Column(column["name"], column["type"]) for column in answer["meta"]], answer["data"])


class Field(NamedTuple):
    """A series as Grafana draws it: its name, and a value for each of the frame's `times`."""

    name: str
    values: Sequence[Any]


class Frame(NamedTuple):
    """Series over the same times, ascending."""

    times: Sequence[Any]
    fields: Sequence[Field]


def over_time(result: Result) -> Frame:
    """Return the series of a result that is requested as a time series (`format: 0`).

    Without a text column, each number is a series of the column's name. With text columns, the rows are pivoted: each
    number, for each set of texts, is a series; its value is None at a time at which only others have a row.

    Raises
    ------
    FrameError : the first column is no time, times do not ascend, two rows have one point, or a column is no number.
    """
    kinds = [column.kind for column in result.columns]
    if not kinds or kinds[0] != "time":
        raise FrameError("the first column is no time: write `AS time` first")
    for column in result.columns[1:]:
        if column.kind in ("time", "other"):
            raise FrameError(
                f"`{column.name}` is {column.type}, which would be drawn as a value: leave it out or cast it"
            )
    if "number" not in kinds:
        raise FrameError("there is no number beside the time")
    times = [row[0] for row in result.rows]
    if None in times:
        raise FrameError("a time is null")
    if any(later < earlier for earlier, later in pairwise(times)):
        raise FrameError("times do not ascend: ORDER BY time")
    labels = [index for index, kind in enumerate(kinds) if kind == "text"]
    numbers = [index for index, kind in enumerate(kinds) if kind == "number"]
    points: dict[tuple[tuple[str, ...], int], dict[Any, Any]] = {}
    for row in result.rows:
        texts = tuple(_text(row[index]) for index in labels)
        for index in numbers:
            at = points.setdefault((texts, index), {})
            if row[0] in at:
                of = f" of {', '.join(texts)}" if texts else ""
                raise FrameError(f"two rows at {row[0]}{of}, of which one would be lost: GROUP BY time and the name")
            at[row[0]] = row[index]
    if not points and not labels:
        points = {((), index): {} for index in numbers}
    keys = [result.columns[index].name for index in labels]
    distinct = list(dict.fromkeys(times))
    return Frame(
        distinct,
        [
            Field(_name(result.columns[index].name, dict(zip(keys, texts, strict=True))), [at.get(t) for t in distinct])
            for (texts, index), at in points.items()
        ],
    )


def _text(value: Any) -> str:
    return "" if value is None else str(value)


def _name(column: str, labels: dict[str, str]) -> str:
    """Return the name shown: that of the column unless it is `Value`, and the text of a single label or all labels."""
    if not labels:
        return column
    listed = ", ".join(f'{key}="{labels[key]}"' for key in sorted(labels))
    words = next(iter(labels.values())) if len(labels) == 1 else f"{{{listed}}}"
    return words if column == "Value" else f"{column} {words}"
