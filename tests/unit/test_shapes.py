"""Results that a shape cannot show as they are: each is named with the way out, and a good one passes."""

from __future__ import annotations

from typing import Any

import pytest

from counterflow.dashboards.definition import Chart
from counterflow.dashboards.frames import Column, Result
from counterflow.dashboards.shapes import points
from tests.support.shapes import problems

TYPES = {
    "t": "DateTime('UTC')",
    "T": "DateTime64(3, 'UTC')",
    "n": "Nullable(Float64)",
    "s": "LowCardinality(String)",
    "a": "Array(String)",
}
T1, T2, T3 = "2026-01-01 00:01:00", "2026-01-01 00:02:00", "2026-01-01 00:03:00"
A_AND_B: dict[str, Any] = {"series": {"a": {}, "b": {}}}


def chart(shape: str, **more: Any) -> Chart:
    about = {"name": "x", "title": "X", "question": "?", "reading": "!", "sql": "SELECT 1", "unit": "count"}
    return Chart.model_validate({**about, "shape": shape, **more})


def result(columns: str, *rows: tuple[Any, ...]) -> Result:
    """Return a result; `columns` are `name:type`, the type in one letter."""
    pairs = [column.split(":") for column in columns.split()]
    return Result([Column(name, TYPES[kind]) for name, kind in pairs], rows)


@pytest.mark.parametrize(
    ("drawn", "given"),
    [
        (chart("bars", **A_AND_B), result("time:t a:n b:n", (T1, 1.0, None), (T2, 2.0, 3.0))),
        (chart("lines", open=True), result("time:t name:s Value:n", (T1, "it's", 1.0), (T1, "x", 2.0))),
        (chart("lines", open=True, signed=True), result("time:t name:s Value:n", (T1, "x", -1.0))),
        (chart("ranking", **A_AND_B), result("name:s a:n b:n", ("JOB", 1.0, 2.0), ("OTHER", 1.0, None))),
        (
            chart("states"),
            result(
                "time:T time_end:T entity:s state:s", (T1, T2, "x", "OK"), (T1, T3, "y", "OK"), (T2, T3, "x", "CAPPED")
            ),
        ),
        (chart("table", series={"x": {}, "a": {}}), result("x:s a:n", ("<b>", -1.0), ("", None))),
        (chart("stat"), result("time:t Value:n", (T1, 1.0), (T2, None))),
    ],
)
def test_a_good_result_passes_and_so_does_none(drawn: Chart, given: Result) -> None:
    assert list(problems(drawn, given)) == []
    assert points(drawn, given) == len(given.rows)
    assert list(problems(drawn, given._replace(rows=[]))) == []
    assert points(drawn, given._replace(rows=[])) == 0


def test_rows_of_nulls_are_no_points() -> None:
    given = result("time:t a:n b:n", (T1, 1.0, None), (T2, None, None))
    assert points(chart("bars", **A_AND_B), given) == 1


MANY = [(T1, f"job {number}", 1.0) for number in range(31)]


@pytest.mark.parametrize(
    ("drawn", "given", "expected"),
    [
        (chart("bars", **A_AND_B), result("a:n time:t b:n"), "the first column is no time"),
        (chart("bars", **A_AND_B), result("time:t a:n"), "b: named in `series`, and no column"),
        (chart("bars", **A_AND_B), result("time:t a:n b:n c:n"), "c: a column that `series` does not name"),
        (chart("bars", **A_AND_B), result("time:t b:n a:n"), "in another order than `series`"),
        (chart("bars", **A_AND_B), result("time:t a:n b:n", (T1, "inf", 1.0)), "`a` is inf or nan somewhere: nullIf"),
        (chart("bars", **A_AND_B), result("time:t a:n b:n", (T1, 1.0, -1.0)), "`b` is below 0 somewhere"),
        (chart("lines", open=True), result("time:t name:s value:n", (T1, "x", 1.0)), "`time`, `Value` and one text"),
        (chart("lines", open=True), result("time:t name:s more:s Value:n"), "`time`, `Value` and one text"),
        (chart("lines", open=True), result("time:t name:s Value:n", *MANY), "31 series: keep the largest"),
        (chart("lines", open=True), result("time:t name:s Value:n", (T1, "", 1.0)), "a series has no name"),
        (chart("lines", open=True), result("time:t name:s Value:n", (T2, "x", 1.0), (T1, "x", 1.0)), "ORDER BY time"),
        (chart("ranking", **A_AND_B), result("job:s a:n b:n"), "begins with the text column `name`"),
        (chart("ranking", **A_AND_B), result("name:s a:n b:s"), "b: beside `name`, a ranking has numbers alone"),
        (chart("ranking", **A_AND_B), result("name:s a:n b:n", ("x", 1.0, 1.0), ("x", 1.0, 1.0)), "the same name"),
        (chart("ranking", **A_AND_B), result("name:s a:n b:n", *((str(n), 1.0, 1.0) for n in range(31))), "LIMIT 30"),
        (chart("states"), result("time:T entity:s state:s"), "states are `time`, `time_end`, `entity` and `state`"),
        (chart("states"), result("time:T time_end:T entity:s state:s", (T1, T2, "x", "odd")), "odd: a state that"),
        (
            chart("states"),
            result("time:T time_end:T entity:s state:s", (T1, T3, "x", "OK"), (T2, T3, "x", "OK")),
            "two spells of x overlap",
        ),
        (chart("table", series={"b": {}}), result("a:n"), "b: named in `series`, and no column"),
        (chart("table"), result("a:a"), "`a` is Array(String)"),
        (chart("stat"), result("time:t a:n", (T1, 1.0)), "this stat is time, Value, not time, a"),
        (chart("stat"), result("time:t Value:n", (T2, 1.0), (T1, 2.0)), "times do not ascend"),
        (
            chart("table", links=[{"title": "L", "board": "cf-x", "variables": {"job": "job"}}]),
            result("a:n"),
            "sets `job` from `job`, which is no column",
        ),
        (
            chart("table", links=[{"title": "L", "board": "cf-x", "pad": True}]),
            result("from_ms:n to_ms:s"),
            "the text columns `from_ms` and `to_ms`",
        ),
    ],
)
def test_what_cannot_be_shown_is_named(drawn: Chart, given: Result, expected: str) -> None:
    assert any(expected in problem for problem in problems(drawn, given))
