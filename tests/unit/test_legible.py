"""Colours that can be seen and distinguished, and the rules of looks and charts."""

from __future__ import annotations

from typing import Any

import pytest

from counterflow.dashboards.build import dashboard
from counterflow.dashboards.definition import Chart, boards
from counterflow.dashboards.looks import looks
from counterflow.dashboards.tables import width_px
from tests.support.legible import SCREEN, chart_problems, illegible


def chart(**changes: Any) -> Chart:
    written = {"name": "of the test", "title": "T", "question": "Q?", "reading": "R.", "shape": "lines", "unit": "ms"}
    series = {"Mean": {"colour": "measured"}, "Ceiling": {"colour": "limit", "dashed": True}}
    return Chart.model_validate({**written, "sql": "SELECT 1", "series": series, **changes})


def test_the_product_keeps_the_rules() -> None:
    assert list(illegible()) == []


def test_documented_colours_stay() -> None:
    series = {"Read only": {"colour": "read_only"}, "Read for update": {"colour": "read_for_update"}}
    assert list(chart_problems(chart(series=series), looks())) == []
    kept = [looks().colours[name] for name in ("read_only", "read_for_update", "insert", "other_io")]
    assert kept == ["#E02F44", "#F2CC0C", "#37872D", "#3274D9"]


def test_a_column_is_as_wide_as_its_heading_and_its_values_need() -> None:
    series = {"Disk": {"unit": "text"}, "Busy": {"unit": "percent"}, "Response": {"unit": "ms"}, "Why": {"chars": 40}}
    made = chart(shape="table", series=series)
    busy, response, why = (width_px(made, name) for name in ("Busy", "Response", "Why"))
    assert 7 * 7 < busy < response < why
    assert why - busy == pytest.approx(33 * 7.6, abs=1)


def test_the_first_row_of_a_board_has_figures_and_fits_the_screen() -> None:
    for uid in ("cf-logical-io", "cf-mirror", "cf-db2-logging", "cf-system"):
        shown = boards()[uid].model_copy(update={"rows": boards()[uid].rows[:1]})
        assert shown.figures
        assert max(one["gridPos"]["y"] + one["gridPos"]["h"] for one in dashboard(shown)["panels"]) <= SCREEN


def test_every_board_begins_with_figures() -> None:
    assert [uid for uid, board in boards().items() if not board.figures] == []
