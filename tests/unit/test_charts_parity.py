"""docs/charts-parity.md: each chart and board it names exists, and each chart is on one of the boards beside it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from counterflow.dashboards.definition import boards, drawings

PAGE = Path(__file__).parents[2] / "docs/charts-parity.md"
ROWS = [
    [cell.strip() for cell in line.strip("|\n").split("|")]
    for line in PAGE.read_text(encoding="utf-8").splitlines()
    if line.startswith("| ") and not line.startswith("| theirs")
]
ELSEWHERE = r"counter\.|system_cpu\.|disk\."
"""A counter on the board of any counter."""


def test_both_lists_are_there() -> None:
    assert len(ROWS) > 60


@pytest.mark.parametrize(("theirs", "where", "ours"), ROWS, ids=[row[0] for row in ROWS])
def test_what_is_named_exists(theirs: str, where: str, ours: str) -> None:
    uids = re.findall(r"`([^`]+)`", where)
    assert set(uids) <= boards().keys(), theirs
    named = [name for name in re.findall(r"`([^`]+)`", ours) if not re.match(ELSEWHERE, name) and name not in boards()]
    assert set(named) <= drawings().keys(), theirs
    assert bool(named) == bool(uids), "a row without a chart states the reason"
    for name in named:
        assert any(name in boards()[uid].drawings for uid in uids), f"{name} is on none of {where}"
