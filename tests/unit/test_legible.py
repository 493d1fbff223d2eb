"""Colours that can be seen and distinguished, and the rules of looks and charts."""

from __future__ import annotations

from typing import Any

import pytest

from counterflow.dashboards.build import dashboard
from counterflow.dashboards.definition import Board, Chart, Link, Looks, boards, looks
from counterflow.dashboards.frames import Column, Result
from counterflow.dashboards.tables import width_px
from tests.support.colour import alike, contrast, distance, faint
from tests.support.legible import (
    CONTROLS_PX,
    MOST,
    SCREEN,
    chart_problems,
    controls_px,
    illegible,
    looks_problems,
    room_px,
    seen_first,
    too_wide,
)
from tests.support.shapes import problems


def chart(**changes: Any) -> Chart:
    written = {"name": "of the test", "title": "T", "question": "Q?", "reading": "R.", "shape": "lines", "unit": "ms"}
    series = {"Mean": {"colour": "measured"}, "Ceiling": {"colour": "limit", "dashed": True}}
    return Chart.model_validate({**written, "sql": "SELECT 1", "series": series, **changes})


def height(board: Board) -> int:
    """Return how high a board is, in the units of its panels."""
    return max(one["gridPos"]["y"] + one["gridPos"]["h"] for one in dashboard(board)["panels"])


def changed(**changes: Any) -> Looks:
    return Looks.model_validate({**looks().model_dump(), **changes})


@pytest.mark.parametrize(
    ("one", "other", "ratio"),
    [("#000000", "#FFFFFF", 21), ("#767676", "#FFFFFF", 4.54), ("#FF0000", "#FFFFFF", 4.0), ("#777777", "#777777", 1)],
)
def test_contrast_is_that_of_wcag(one: str, other: str, ratio: float) -> None:
    assert contrast(one, other) == contrast(other, one) == pytest.approx(ratio, abs=0.005)


def test_red_and_green_are_closest_to_an_eye_that_lacks_green_or_red() -> None:
    assert distance("#000000", "#FFFFFF")[0] == pytest.approx(1, abs=0.01)
    found, vision = distance("#C62828", "#4E7D00")
    assert found < 0.1
    assert vision in ("with protanopia", "with deuteranopia")


def test_what_is_hard_to_see_is_named_with_the_theme() -> None:
    assert faint(["#555555"]) == ["#555555 has a contrast of 2.3:1 on dark panels, and needs 3:1"]
    assert faint(["#F0E442"]) == ["#F0E442 has a contrast of 1.3:1 on light panels, and needs 3:1"]
    assert alike(["#3C66AE", "#3C66B4"])[0].startswith("#3C66AE and #3C66B4 are 0.0")


def test_the_product_keeps_the_rules() -> None:
    assert list(illegible()) == []


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"palette": ["#F0E442"]}, "has a contrast of 1.3:1 on light panels"),
        ({"hues": {"blue": "#3C66AE", "navy": "#3C66B4"}}, "#3C66AE and #3C66B4 are"),
        ({"colours": {**looks().colours, "cpu": looks().colours["critical"]}}, "`critical` stands for cpu, too"),
        ({"colours": {**looks().colours, "wait": looks().colours["limit"]}}, "`limit` stands for wait, too"),
        ({"colours": {**looks().colours, "warning": "#C8283E"}}, "#C8283C and #C8283E are"),
        (
            {"states": {**looks().states, "DEMAND_LIMITED": looks().states["OK"]}},
            "OK, DEMAND_LIMITED have the colour of `good`",
        ),
    ],
)
def test_looks_that_mislead_are_named(changes: dict[str, Any], expected: str) -> None:
    assert any(expected in problem for problem in looks_problems(changed(**changes)))


@pytest.mark.parametrize(
    ("series", "expected"),
    [
        ({"Lost": {"colour": "critical"}}, "Lost: `critical` is the colour of a state"),
        ({"Ceiling": {"colour": "limit"}}, "Ceiling: limits are dashed"),
        ({"Most": {"colour": "peak", "dashed": True}}, "Most: limits are dashed"),
        ({"Reads": {"colour": "read"}, "CPU": {"colour": "cpu"}}, "#3C66AE and #3C66AE are 0.000 apart"),
    ],
)
def test_a_chart_that_misleads_is_named(series: dict[str, Any], expected: str) -> None:
    assert list(chart_problems(chart(), looks())) == []
    assert any(expected in problem for problem in chart_problems(chart(series=series), looks()))


def test_documented_colours_stay() -> None:
    series = {"Read only": {"colour": "read_only"}, "Read for update": {"colour": "read_for_update"}}
    assert list(chart_problems(chart(series=series), looks())) == []
    kept = [looks().colours[name] for name in ("read_only", "read_for_update", "insert", "other_io")]
    assert kept == ["#E02F44", "#F2CC0C", "#37872D", "#3274D9"]


def table(**series: Any) -> Chart:
    return chart(shape="table", series=series)


def test_a_column_is_as_wide_as_its_heading_and_its_values_need() -> None:
    made = table(Disk={"unit": "text"}, Busy={"unit": "percent"}, Response={"unit": "ms"}, Why={"chars": 40})
    busy, response, why = (width_px(made, name) for name in ("Busy", "Response", "Why"))
    assert 7 * 7 < busy < response < why
    assert why - busy == pytest.approx(33 * 7.6, abs=1)


def test_a_table_that_does_not_fit_a_laptop_is_named() -> None:
    made = table(**{f"A heading, number {number}": {} for number in range(6)})
    assert list(too_wide(made, 24)) == []
    [problem] = too_wide(made, 12)
    assert f"pixels of {room_px(12)}: shorten headings" in problem
    assert room_px(24) < 1280


def test_a_column_that_is_cut_off_or_unknown_is_named() -> None:
    columns = [Column("Disk", "String"), Column("State", "String"), Column("Why", "String"), Column("at_ms", "String")]
    result = Result(columns, [["hdisk" * 9, "PATH_DEGRADED", "because " * 9, "1"]])
    made = table(Disk={"unit": "text"}, State={"unit": "text"}, Why={"unit": "text"})
    assert list(problems(made, result)) == [
        "`State` has 13 characters in a width for 10: set `chars: 13`",
        "`Why` has 72 characters in a width for 10: set `chars: 72`",
    ]
    longer = Result(
        columns[:1] + columns[1:2], [["sda", "OK"], ["sda", "OK"], ["sda", "a name as long as a host may have"]]
    )
    assert list(problems(table(Disk={"unit": "text"}, State={"unit": "text"}), longer)) == []
    made = table(Disk={"unit": "text"}, State={"chars": 13})
    assert list(problems(made, result)) == [
        "Why: a column that `series` does not name, whose width and unit nobody knows"
    ]
    made = table(Disk={"unit": "text", "chars": 45}, State={"chars": 13}, Why={"unit": "text", "fills": True})
    assert list(problems(made, result)) == []


def test_the_first_screen_of_a_board_answers_its_question() -> None:
    first = {uid: boards()[uid].rows[0].title for uid in ("cf-logical-io", "cf-mirror", "cf-db2-logging", "cf-system")}
    assert first == {
        "cf-logical-io": "What would mirroring cost?",
        "cf-mirror": "Is the link capped?",
        "cf-db2-logging": "Is the log at its ceiling, and what does an account cost?",
        "cf-system": "What limits this system?",
    }
    for uid in first:
        shown = boards()[uid].model_copy(update={"rows": boards()[uid].rows[:1]})
        assert shown.figures
        assert height(shown) <= SCREEN


@pytest.mark.parametrize(
    ("uid", "expected"),
    [
        ("cf-system", []),
        ("cf-nowhere", ["which is no board"]),
        ("cf-compare", ["sets system, which `cf-compare` has not"]),
    ],
)
def test_a_row_leads_to_a_board_that_exists_and_knows_its_variables(uid: str, expected: list[str]) -> None:
    link = {"title": "There", "board": "cf-system", "by": "board_uid", "variables": {"system": "System"}}
    made = table(System={"unit": "text"}).model_copy(update={"links": (Link(**link),)})
    result = Result([Column("System", "String"), Column("board_uid", "String")], [["BANKA", uid]])
    found = list(problems(made, result))
    assert len(found) == len(expected)
    assert all(part in problem for part, problem in zip(expected, found, strict=True))


def test_first_screens_have_few_charts_and_controls_one_row() -> None:
    board = boards()["cf-aix"]
    assert seen_first(board) <= MOST < len(board.drawings)
    small = [{"chart": name, "width": 2, "height": 2} for name in board.charts]
    crowded = board.model_copy(update={"rows": (board.rows[0].model_validate({"title": "R", "panels": small}),)})
    assert seen_first(crowded) == len(board.drawings) > MOST
    chosen = ("system", "grouping", "name", "link", "log", "workload")
    assert controls_px(board) < CONTROLS_PX < controls_px(board.model_copy(update={"variables": chosen}))


@pytest.mark.parametrize(
    ("begin_ms", "end_ms", "expected"),
    [(0, 2000, []), (2000, 2000, ["2000 to 2000"]), (1500, 2000, ["1500 to 2000"]), (0, 500, ["0 to 500"])],
)
def test_a_range_that_a_row_leads_to_has_what_the_row_states(begin_ms: int, end_ms: int, expected: list[str]) -> None:
    link = Link(title="Then", board="cf-system", pad=True)
    made = table(Begin={"unit": "time"}).model_copy(update={"links": (link,)})
    columns = [Column("Begin", "DateTime"), Column("from_ms", "String"), Column("to_ms", "String")]
    result = Result(columns, [["1970-01-01 00:00:01", str(begin_ms), str(end_ms)]])
    found = list(problems(made, result))
    assert [problem.split(": ")[-1] for problem in found] == expected


def test_an_array_is_a_line_in_a_cell_and_nothing_else_is() -> None:
    columns = [Column("System", "String"), Column("CPU", "Array(Float64)")]
    result = Result(columns, [["BANKA", [1.0, 2.0]]])
    named = {"System": {"unit": "text"}}
    assert list(problems(table(**named, CPU={"unit": "percent", "spark": True}), result)) == []
    assert "an array is a `spark`" in next(problems(table(**named, CPU={"unit": "percent"}), result))
    number = Result([columns[0], Column("CPU", "Float64")], [["BANKA", 1.0]])
    assert "`CPU` is Float64" in next(problems(table(**named, CPU={"unit": "percent", "spark": True}), number))


def test_every_board_begins_with_figures() -> None:
    assert [uid for uid, board in boards().items() if not board.figures] == []
