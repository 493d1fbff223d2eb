"""What the report draws from given rows, shape by shape."""

from __future__ import annotations

import re
from typing import Any

import pytest

from counterflow.analysis.studies.pictured import bars, spread
from counterflow.dashboards.definition import Chart, charts
from counterflow.dashboards.frames import Column, Result
from counterflow.dashboards.looks import looks
from counterflow.dashboards.macros import Range
from counterflow.dashboards.report import page
from counterflow.dashboards.report.figures import ReportFigure, figure_of, table
from counterflow.dashboards.report.series import palette
from counterflow.dashboards.report.specs import ShadedSpell
from counterflow.dashboards.report.words import figure as worded
from counterflow.dashboards.report.words import plain
from tests.support.colour import faint
from tests.support.reports import (
    BEGIN,
    END,
    EVIL,
    NUMBER,
    SHOWN,
    TEXT,
    TIME,
    charts_in,
    figure,
    long,
    ranked,
    report,
    spells,
    times,
    wide,
)

MINUTE = 60_000
FIRST = int(BEGIN.timestamp()) * 1000


def chart(shape: str, **changes: Any) -> Chart:
    about = {"name": "one", "title": "One", "question": "Why?", "reading": "So.", "sql": "SELECT 1", "interval": "15m"}
    unit = "text" if shape == "states" else "ms"
    known = (
        {} if shape in ("states", "table", "stat") else {"series": {"A": {"colour": "cpu"}, "B": {"colour": "disk"}}}
    )
    return Chart.model_validate({**about, "shape": shape, "unit": unit, **known, **changes})


def layers(spec: Any) -> list[Any]:
    """Return the layers that draw rows, out of layers that hold others."""
    inner = spec.get("layer")
    return [drawn for layer in inner for drawn in layers(layer)] if inner else [spec]


def spec_of(made: ReportFigure) -> dict[str, Any]:
    assert made.spec is not None, made.instead
    return made.spec


def rows_of(made: ReportFigure) -> list[list[dict[str, Any]]]:
    return [layer["data"]["values"] for layer in layers(spec_of(made)) if "values" in layer.get("data", {})]


def test_bars_cover_their_interval_and_stack_in_order() -> None:
    made = figure(chart("bars"), wide(chart("bars"), [[1, 2], [3, None]]))
    [bars] = layers(spec_of(made))
    assert bars["data"]["values"] == [
        {"end": FIRST + 15 * MINUTE, "series": "A", "order": 0, "value": 1},
        {"end": FIRST + 30 * MINUTE, "series": "A", "order": 0, "value": 3},
        {"end": FIRST + 15 * MINUTE, "series": "B", "order": 1, "value": 2},
    ], "a null is a gap: no row, never 0"
    assert {"calculate": f"datum.end - {15 * MINUTE}", "as": "begin"} in bars["transform"]
    assert (bars["encoding"]["x"]["field"], bars["encoding"]["x2"]["field"]) == ("begin", "end")
    assert bars["encoding"]["x"]["scale"]["type"] == "utc"


def test_a_line_ends_where_points_are_missing_and_one_point_is_an_interval_wide() -> None:
    made = figure(chart("lines"), wide(chart("lines"), [[1, None], [None, None], [None, 7], [None, None], [5, None]]))
    first, second = rows_of(made)
    assert [(row["run"], row["at"] - FIRST, row["value"]) for row in first] == [
        (0, 0, 1),
        (0, 15 * MINUTE, 1),
        (1, 60 * MINUTE, 5),
        (1, 75 * MINUTE, 5),
    ]
    assert [row["at"] - FIRST for row in second] == [30 * MINUTE, 45 * MINUTE]


@pytest.mark.parametrize(
    ("bucket_s", "usual_s", "missing", "lines"),
    [
        (900, 900, 1, 1),  # a sample came late
        (900, 900, 2, 2),
        (1200, 900, 1, 1),
        (1800, 900, 1, 2),  # half an hour without a sample
        (15, 2, 1, 2),
        (20, 0, 100, 1),  # nothing states the interval, so that of the chart counts
        (20, 0, 120, 2),
    ],
)
def test_a_line_bridges_one_late_sample_and_no_outage(bucket_s: int, usual_s: int, missing: int, lines: int) -> None:
    values = [1, *[None] * missing, 2]
    known = chart("lines", series={"A": {"colour": "cpu"}})
    rows = [[time, value] for time, value in zip(times(len(values), bucket_s), values, strict=True)]
    result = Result([Column("time", TIME), Column("A", NUMBER)], rows)
    made = figure_of(known, "SELECT 1", result, Range(BEGIN, END, bucket_s), usual_s=usual_s)
    assert len({row["run"] for row in rows_of(made)[0]}) == lines
    assert any("A point stands for" in note for note in made.notes) == (bucket_s > (usual_s or known.interval_s))


def test_a_ranking_keeps_its_order_and_names_with_the_same_beginning() -> None:
    made = figure(chart("ranking"), ranked(chart("ranking"), ["ZEBRA", "ADAM"]))
    [bars] = layers(spec_of(made))
    assert [(row["row"], row["name"], row["series"]) for row in bars["data"]["values"]] == [
        (0, "ZEBRA", "A"),
        (0, "ZEBRA", "B"),
        (1, "ADAM", "A"),
        (1, "ADAM", "B"),
    ]
    assert made.table.head == ["Name", "A, ms", "B, ms"]


def test_states_have_their_colours_and_reach_from_begin_to_end() -> None:
    made = figure(chart("states"), spells((0, 5, "L", "OK"), (5, 9, "L", "CAPPED"), (0, 1, "M", "NEVER SEEN")))
    [bars] = layers(spec_of(made))
    assert bars["data"]["values"][1] == {
        "entity": "L",
        "series": "capped",
        "from": FIRST + 300 * MINUTE,
        "until": FIRST + 540 * MINUTE,
    }
    of = {key.name: key.colour for key in made.legend}
    colours = looks().colours
    assert of == {"OK": colours["good"], "capped": colours["critical"], "NEVER SEEN": colours["unknown"]}


def test_a_table_has_units_dashes_and_no_columns_for_links() -> None:
    defined = chart("table", unit="count", series={"Took": {"unit": "ms"}, "State": {"state": True}})
    columns = [Column("Name", TEXT), Column("Took", NUMBER), Column("State", TEXT), Column("Seen", TIME)]
    made = table(defined, Result(columns, [["a", 1.5, "CAPPED", times()[0]], ["b", None, "OK", None]]))
    assert [[cell.text for cell in row] for row in made.rows] == [
        ["a", "1.5", "capped", "2026-05-04 08:15"],
        ["b", "\u2013", "OK", "\u2013"],
    ]
    assert made.rows[0][2].colour == looks().colours["critical"]
    padded = chart("table", links=[{"title": "Then", "board": "cf-system", "pad": True}])
    shown = table(
        padded, Result([Column("Name", TEXT), Column("from_ms", TEXT), Column("to_ms", TEXT)], [["a", "1", "2"]])
    )
    assert shown.head == ["Name"]


@pytest.mark.parametrize("shape", ["bars", "area", "lines", "ranking", "states", "table", "stat"])
def test_no_rows_are_a_sentence(shape: str) -> None:
    defined = chart(shape)
    shapes = {"ranking": ranked(defined, []), "states": spells()}
    empty = shapes.get(shape, wide(defined, []))
    assert figure(defined, empty).instead == "Nothing was measured in this range."


def test_rows_that_would_give_a_wrong_picture_are_reported() -> None:
    rows = [[times()[0], 1.0, 2.0]] * 2
    columns = [Column("time", TIME), Column("A", NUMBER), Column("B", NUMBER)]
    made = figure(chart("bars"), Result(columns, rows))
    assert made.instead.startswith("This could not be drawn: two rows at")


def test_inf_and_nan_are_gaps() -> None:
    columns = [Column("time", TIME), Column("A", NUMBER), Column("B", NUMBER)]
    rows = [[times()[0], "inf", 2.0], [times()[1], "nan", 3.0]]
    made = figure(chart("bars"), Result(columns, rows))
    assert {row["series"] for rows in rows_of(made) for row in rows} == {"B"}


def test_what_is_too_much_for_thirty_colours_is_summed_up() -> None:
    defined = chart("bars", open=True, series={})
    names = [f"JOB{number:03}" for number in range(100)]
    made = figure(defined, long(names, count=2))
    assert len(made.legend) == 30
    assert made.legend[-1].name == "others"
    drawn = [row["value"] for rows in rows_of(made) for row in rows]
    assert sum(drawn) == pytest.approx(sum(row[2] for row in long(names, count=2).rows))
    lines = figure(chart("lines", open=True, series={}), long(names, count=2))
    assert len(lines.legend) == 29, "a sum of what lines show means nothing"
    assert "71 smaller series are left out." in lines.notes


def test_a_spell_is_shaded_behind_what_was_judged() -> None:
    spell = ShadedSpell(FIRST + MINUTE, FIRST + 30 * MINUTE, "#C8283C")
    made = figure_of(chart("lines"), "", wide(chart("lines"), [[1, 2], [3, 4]]), SHOWN, spell)
    shade, *lines = layers(spec_of(made))
    assert shade["data"]["values"] == [{"from": FIRST + MINUTE, "until": FIRST + 30 * MINUTE}]
    assert [layer["mark"]["type"] for layer in (shade, *lines)] == ["rect", "line", "line"]
    assert page.pictures(made)["png"].startswith(b"\x89PNG")


def test_bars_of_runs_have_the_length_of_their_means_and_the_spread_of_their_intervals() -> None:
    """Means of 2 and 4, deviations of 1: the longest ends at 5, 100 %; the difference spreads by the root of 2."""
    before, after, absent = bars(["a", "b", "c"], [(2, 1), (4, 1), (None, None)], ["2", "4", "-"])
    assert (before.length, before.low, before.high) == (40, 20, 60)
    assert (after.length, after.low, after.high) == (80, 60, 100)
    assert (absent.length, absent.low) == (0, None)
    assert before.colour != after.colour
    assert spread(1, 1) == pytest.approx(2**0.5)
    assert spread(1, None) is None


def test_no_two_of_many_colours_are_the_same_and_each_is_seen_on_dark_and_light() -> None:
    assert len(set(palette(21))) == 21
    assert faint(palette(21)) == []
    assert all(re.fullmatch("#[0-9A-F]{6}", colour) for colour in palette(30))


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (None, "ms", "\u2013"),
        (0, "ms", "0 ms"),
        (1234567, "count", "1,234,567"),
        (0.12345, "percent", "0.1235 %"),
        (1_500_000, "bytes", "1.5 MB"),
        (0.00001, "ratio", "1.00e-05 ratio"),
        ("inf", "ms", "inf"),
    ],
)
def test_values_in_words(value: Any, unit: str, text: str) -> None:
    assert worded(value, unit) == text


def test_what_hides_in_a_name_is_shown() -> None:
    assert plain("a\x00\x1b[2J\u202eb\r\n\ud800") == "a\\x00\\x1b[2J\\u202eb\\r\\n\\ud800"
    assert plain("naïve 日本 'x' <b>") == "naïve 日本 'x' <b>"


def test_names_are_text_in_the_page() -> None:
    made = page.html(report()).replace(str(page._bundle()), "")
    assert "<img" not in made
    assert "\x07" not in made
    assert "\u202e" not in made
    [embedded] = re.findall(r'<script type="application/json" id="charts">(.*?)</script>', made, re.DOTALL)
    assert "<" not in embedded
    drawn = charts_in(made)
    assert plain(EVIL) in {key[0] for key in drawn["logical_io_by_group"]["spec"]["usermeta"]["legend"]}
    assert made.count("</script>") == 3


def test_pictures_have_the_names_of_their_series() -> None:
    made = figure(charts()["logical_io_by_group"], long(["QZDASO", EVIL, "others"]))
    drawn = page.pictures(made)
    svg = drawn["svg"].decode()
    assert "QZDASO" in svg
    assert "others" in svg
    assert "<img" not in svg
    assert drawn["png"].startswith(b"\x89PNG")
    assert len(drawn["png"]) > 20_000, "not blank"
    assert page.pictures(figure(charts()["logical_io"], wide(charts()["logical_io"], []))) == {}


def test_buckets_keep_their_order_and_the_sequence_of_colours() -> None:
    buckets = chart("bars", series={}, open=True, ordered=True)
    made = figure(buckets, long(["02: up to 4 ms", "03: longer", "01: up to 1 ms"]))
    assert [key.name for key in made.legend] == ["01: up to 1 ms", "02: up to 4 ms", "03: longer"]
    first, last = made.legend[0].colour, made.legend[-1].colour
    assert (first, looks().sequence.index(last)) == (looks().sequence[0], 2 * len(looks().sequence) // 3)


def test_runs_are_drawn_over_the_minutes_since_each_began() -> None:
    chart = charts()["compare_cpu"]
    columns = [Column("Minutes", NUMBER), Column("Baseline", NUMBER), Column("Scenario", NUMBER)]
    made = figure_of(chart, "SELECT 1", Result(columns, [[0.5, 1.0, 2.0], [1.5, 1.5, None], [2.5, 1.0, 4.0]]), SHOWN)
    assert made.spec is not None
    [layer] = made.spec["layer"]
    assert layer["encoding"]["x"]["type"] == "quantitative"
    points = [(row["at"], row["series"], row["value"]) for row in layer["data"]["values"]]
    assert points[3:] == [(0.5, "Scenario", 2.0), (1.5, "Scenario", None), (2.5, "Scenario", 4.0)]
    assert [key.name for key in made.legend] == ["Baseline", "Scenario"]
    assert made.table.head[0] == "Minutes"
