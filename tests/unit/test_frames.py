"""Series and their names, as the table of names in Grafana's own code gives them; what would be lost is refused."""

from __future__ import annotations

from typing import Any

import pytest

from counterflow.dashboards.frames import Column, Field, Frame, FrameError, Result, over_time

TYPES = {"time": "DateTime('UTC')", "job": "LowCardinality(String)", "bucket": "String", "unit": "Nullable(String)"}


def result(names: str, *rows: tuple[Any, ...]) -> Result:
    columns = [Column(name, TYPES.get(name, "Nullable(Float64)")) for name in names.split(", ")]
    return Result(columns, rows)


@pytest.mark.parametrize(
    ("columns", "rows", "names"),
    [
        ("time, value, job", [(1, 2, "QZDASOINIT"), (1, 3, "QBATCH")], ["value QZDASOINIT", "value QBATCH"]),
        ("time, Value, job", [(1, 2, "QZDASOINIT"), (1, 3, "QBATCH")], ["QZDASOINIT", "QBATCH"]),
        ("time, reads, writes, unit", [(1, 2, 3, "0001")], ["reads 0001", "writes 0001"]),
        ("time, Value, job, bucket", [(1, 2, "QBATCH", "Journaling")], ['{bucket="Journaling", job="QBATCH"}']),
        ("time, reads, writes", [(1, 2, 3)], ["reads", "writes"]),
        ("time, reads, writes", [], ["reads", "writes"]),
        ("time, Value, job", [], []),
        ("time, Value, unit", [(1, 2, None)], [""]),
    ],
)
def test_names_of_series(columns: str, rows: list[tuple[Any, ...]], names: list[str]) -> None:
    assert [field.name for field in over_time(result(columns, *rows)).fields] == names


def test_a_missing_cell_is_none() -> None:
    rows = [(1, 10.0, "A"), (2, 20.0, "A"), (2, 5.0, "B"), (3, None, "B")]
    assert over_time(result("time, Value, job", *rows)) == Frame(
        [1, 2, 3], [Field("A", [10.0, 20.0, None]), Field("B", [None, 5.0, None])]
    )


@pytest.mark.parametrize(
    ("columns", "rows", "problem"),
    [
        ("job, time, Value", [], "the first column is no time"),
        ("time, job", [], "no number"),
        ("time, Value", [(2, 1), (1, 1)], "ORDER BY time"),
        ("time, Value", [(None, 1)], "a time is null"),
        ("time, Value", [(1, 1), (1, 2)], "two rows at 1, of which one would be lost"),
        ("time, Value, job", [(1, 1, "A"), (1, 2, "A")], "two rows at 1 of A"),
    ],
)
def test_what_grafana_would_not_show_is_refused(columns: str, rows: list[tuple[Any, ...]], problem: str) -> None:
    with pytest.raises(FrameError, match=problem):
        over_time(result(columns, *rows))


@pytest.mark.parametrize("type_", ["Array(String)", "DateTime64(3, 'UTC')", "Map(String, UInt8)", "UUID", "Int128"])
def test_a_column_that_would_be_drawn_as_a_value_is_refused(type_: str) -> None:
    with pytest.raises(FrameError, match="`x` is"):
        over_time(Result([Column("time", "DateTime"), Column("x", type_), Column("y", "Float64")], []))


@pytest.mark.parametrize(
    ("type_", "kind"),
    [
        ("UInt64", "number"),
        ("Nullable(Decimal(18, 3))", "number"),
        ("LowCardinality(Nullable(String))", "text"),
        ("Bool", "text"),
        ("Enum8('a' = 1)", "text"),
        ("Date32", "time"),
        ("Nullable(DateTime64(3, 'UTC'))", "time"),
        ("SimpleAggregateFunction(sum, UInt64)", "other"),
    ],
)
def test_kinds_of_columns(type_: str, kind: str) -> None:
    assert Column("x", type_).kind == kind
