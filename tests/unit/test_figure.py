"""A figure is judged against its limit; a slow machine leaves open what it cannot show."""

from __future__ import annotations

import pytest

from bench.figure import REFERENCE_TASK_S, Figure


@pytest.mark.parametrize(
    ("value", "unit", "limit", "slower", "met"),
    [
        (30, "s", "<= 30", 1.0, "yes"),
        (31, "s", "<= 30", 1.0, "no"),
        (31, "s", "<= 30", 1.5, "unknown"),
        (46, "s", "<= 30", 1.5, "no"),
        (29, "s", "<= 30", 1.5, "yes"),
        (90, "rows/s", ">= 100", 1.5, "unknown"),
        (60, "rows/s", ">= 100", 1.5, "no"),
        (20, "MB a core-second", ">= 25", 1.5, "unknown"),
        (20, "%", "<= 15", 1.5, "no"),
        (1, "records", "<= 0", 1.5, "no"),
    ],
)
def test_a_figure_is_judged_by_its_limit_and_the_machine(
    value: float, unit: str, limit: str, slower: float, met: str
) -> None:
    assert Figure("a measure", value, unit, limit, "a method").met(REFERENCE_TASK_S * slower) == met
