"""A figure is judged against its limit; a slow machine leaves open what it cannot show."""

from __future__ import annotations

import pytest

from bench.figure import REFERENCE_TASK_S, Figure


def figure(value: float, unit: str, limit: str, *, peer_value: float | None = None) -> Figure:
    return Figure("a measure", value, unit, limit, "a method", peer="a peer", peer_value=peer_value)


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
        (0.12, "processors", "<= 0.10", 1.5, "unknown"),
        (1.3, "times", "<= 1.25", 1.5, "no"),
        (1.5, "x the rows/s", ">= 1.6", 1.5, "no"),
        (20, "% of the throughput", "<= 15", 1.5, "no"),
        (1, "records", "<= 0", 1.5, "no"),
    ],
)
def test_a_figure_is_judged_by_its_limit_and_the_machine(
    value: float, unit: str, limit: str, slower: float, met: str
) -> None:
    assert figure(value, unit, limit).met(REFERENCE_TASK_S * slower) == met


def test_a_limit_that_is_the_peer_of_the_same_run_does_not_depend_on_the_machine() -> None:
    assert figure(7.5, "us", "<= 7.45", peer_value=7.45).met(REFERENCE_TASK_S * 2) == "no"
