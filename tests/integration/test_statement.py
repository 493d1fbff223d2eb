"""What Grafana receives for a chart over time: the series with values, in their order."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from counterflow.base.clickhouse import ClickHouse
from counterflow.dashboards.definition import Chart
from counterflow.dashboards.frames import Result, fetch
from counterflow.dashboards.macros import Range, expand
from counterflow.dashboards.statement import statement
from counterflow.stack.settings import StackSettings
from tests.support.shapes import legend
from tests.support.tables import empty_tables

BEGIN = datetime(2026, 3, 2, 8, tzinfo=UTC)
KNOWN = """\
SELECT toDateTime('2026-03-02 08:00:00', 'UTC') + 60 * number AS time,
  toUInt32(number) AS "Zeta", NULL AS "It's none", if(number = 1, NULL, 0.5) AS "Alpha"
FROM numbers(4) WHERE number != 2 AND time >= $__fromTime AND time <= $__toTime ORDER BY time"""
OPEN = """\
SELECT toDateTime('2026-03-02 08:00:00', 'UTC') + 60 * number AS time, arrayJoin([{names}]) AS job, number AS Value
FROM numbers(3) WHERE time >= $__fromTime AND time <= $__toTime ORDER BY time, job"""

LATE = """\
SELECT $__timeInterval(toDateTime('2026-03-02 08:01:00', 'UTC') + 60 * number) AS time,
  {columns} FROM numbers(9)
WHERE number NOT IN (2, 5, 6) AND 'A' IN (${system:singlequote}) ORDER BY time"""
"""Nine minutes, of which the third has no sample, nor have the sixth and seventh."""
BRIDGED = [0, 1, 3, 3, 4, None, None, 7, 8]


def sent(client: ClickHouse, begin: datetime = BEGIN, hours: int = 1, **written: Any) -> Result:
    shared = {"name": "test", "title": "T", "question": "Q?", "reading": "R.", "shape": "lines", "unit": "ms"}
    made = Chart.model_validate({**shared, **written})
    shown = Range(begin, begin + timedelta(hours=hours), 60)
    return fetch(client, expand(statement(made), shown, {"system": ("A",)}))


def test_a_series_without_a_value_is_left_out_and_the_order_of_the_stack_stays(reader: ClickHouse) -> None:
    found = sent(reader, sql=KNOWN, series={"Zeta": {}, "It's none": {}, "Alpha": {}})
    assert [column.name for column in found.columns] == ["time", "place", "series", "Value"]
    edges = [row[0][11:] for row in found.rows if row[2] == "Zeta"]
    assert edges == [
        "07:59:59.999",
        *("08:00:00.000", "08:00:00.001", "08:01:00.000", "08:01:00.001"),
        *("08:02:00.000", "08:02:00.001", "08:03:00.000"),
    ], "at the begin of each minute and at its end, cut off where the range begins"
    values = {
        name: [row[3] for row in found.rows if row[2] == name] for name in dict.fromkeys(r[2] for r in found.rows)
    }
    assert values == {"Zeta": [0, 0, 1, 1, None, None, 3, 3], "Alpha": [0.5, 0.5, None, None, None, None, 0.5, 0.5]}
    assert sorted({(row[1], row[2]) for row in found.rows}) == [("01", "Zeta"), ("03", "Alpha")]
    assert list(legend(found)) == []


def test_nothing_is_drawn_as_nothing(reader: ClickHouse) -> None:
    long_ago = datetime(2001, 1, 1, tzinfo=UTC)
    assert sent(reader, long_ago, sql=KNOWN, series={"Zeta": {}, "It's none": {}, "Alpha": {}}).rows == []
    assert sent(reader, long_ago, sql=OPEN.replace("{names}", "'A'"), open=True).rows == []


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ({"shape": "lines", "series": {"One": {}}}, {"One": BRIDGED}),
        ({"shape": "area", "series": {"One": {}}}, {"One": BRIDGED}),
        ({"shape": "lines", "open": True}, {"one": BRIDGED}),
        (
            {"shape": "bars", "series": {"One": {}, "Two": {"line": True}}},
            {"One": [0, 1, None, 3, 4, None, None, 7, 8], "Two": BRIDGED},
        ),
    ],
    ids=["lines", "area", "open", "bars"],
)
def test_a_line_bridges_one_late_sample_and_ends_at_an_outage(
    clickhouse: StackSettings, written: dict[str, Any], expected: dict[str, list[float | None]]
) -> None:
    columns = "number AS Value, 'one' AS name" if written.get("open") else 'number AS "One", number AS "Two"'
    with empty_tables(clickhouse) as client:
        found = sent(client, sql=LATE.replace("{columns}", columns), counted="'disk'", **written)
    at = [column.name for column in found.columns].index("series")
    each = 1 if written["shape"] == "bars" else 2  # a line has a row at both ends of a bucket
    assert {name: [row[-1] for row in found.rows if row[at] == name][::each] for name in expected} == expected


def test_a_timeline_of_nothing_states_what_is_missing(reader: ClickHouse) -> None:
    spell = "SELECT $__fromTime AS time, $__toTime AS time_end, 'L1' AS entity, 'OK' AS state WHERE {some}"
    written = {"shape": "states", "unit": "text", "empty": "It's quiet."}
    assert [row[2:] for row in sent(reader, sql=spell.format(some="1"), **written).rows] == [["L1", "OK"]]
    [row] = sent(reader, sql=spell.format(some="0"), **written).rows
    assert [moment[:16] for moment in row[:2]] == ["2026-03-02 08:00", "2026-03-02 09:00"]
    assert row[2:] == ["\u2013", "It's quiet."]


DAYS = """\
SELECT toDateTime('2026-03-01 08:00:00', 'UTC') + 86400 * intDiv(number, 4) + 600 * (number % 4) AS time,
  toNullable(({values})[number + 1]) AS Value
FROM numbers(8) WHERE time > $__fromTime AND time <= $__toTime ORDER BY time"""


@pytest.mark.parametrize(
    ("values", "written", "text"),
    [
        ([1, 1, 40, 1, 1, 1, 50, None], {"unit": "ms"}, "+25 % on the day before"),
        ([1, 1, 40, 1, 1, 1, 35.5, None], {"unit": "percent"}, "-4.5 points on the day before"),
        ([1, 1, 2, 1, 1, 1, 5, None], {"unit": "count"}, "+3 on the day before"),
        ([1, 1, 5, 1, 1, 1, 5, None], {"unit": "ms"}, "as the day before"),
        ([1, 1, 0, 1, 1, 1, 5, None], {"unit": "ms"}, "none the day before"),
        ([None, None, None, 7, 1, 1, 5, None], {"unit": "ms"}, "\u00a0"),
        ([1, 1, 1, 1, 1, 1, 5, None], {"unit": "count", "total": True}, "+3 on the day before"),
    ],
)
def test_a_figure_is_compared_with_the_same_time_of_the_day_before(
    reader: ClickHouse, values: list[float | None], written: dict[str, Any], text: str
) -> None:
    """The newest value is of 08:20; that of 08:30 the day before is less than a day older."""
    listed = f"[{', '.join('NULL' if value is None else str(value) for value in values)}]"
    found = sent(reader, BEGIN - timedelta(minutes=1), sql=DAYS.replace("{values}", listed), shape="stat", **written)
    assert [column.name for column in found.columns] == ["time", "series", "Value"]
    assert {row[1] for row in found.rows} == {text}
    assert [row[2] for row in found.rows] == [value for value in values[4:] if value is not None]


@pytest.mark.parametrize(
    ("value", "against", "text"),
    [
        (50, "40", "+25 % on the baseline"),
        (30, "40", "-25 % on the baseline"),
        (5, "5", "as the baseline"),
        (5, "0", "none in the baseline"),
        (5, "NULL", "the baseline has none"),
    ],
)
def test_a_figure_is_compared_with_its_reference(reader: ClickHouse, value: float, against: str, text: str) -> None:
    sql = f"SELECT $__toTime AS time, toNullable({value}) AS Value, toNullable({against}) AS Against"
    found = sent(reader, sql=sql, shape="stat", unit="ms", against="the baseline")
    assert [column.name for column in found.columns] == ["time", "series", "Value"]
    assert [(row[1], row[2]) for row in found.rows] == [(text, value)]
