"""Labelled runs side by side: for each figure a bar per run with its spread, and the difference to the baseline."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from counterflow.dashboards.looks import looks
from counterflow.dashboards.report.figures import ReportTable

Value = tuple[float | None, float | None]
"""A figure of a run and the standard deviation of its intervals; None is unknown."""


class Bar(NamedTuple):
    """A bar in percent of the longest of its figure: its length, and the ends of the spread of its intervals."""

    run: str
    colour: str
    text: str
    length: float
    low: float | None = None
    high: float | None = None


class Pair(NamedTuple):
    """One figure of all runs: `what` it is, and the system and thing that it is `of`.

    A difference to the baseline is in words: in percent, and in the unit with its spread.
    """

    what: str
    of: str
    unit: str
    bars: Sequence[Bar]
    differences: Sequence[tuple[str, str]]


class Topic(NamedTuple):
    """Figures of one kind, the pictures first."""

    title: str
    pairs: Sequence[Pair]
    table: ReportTable


class DrawnComparison(NamedTuple):
    """Runs, the baseline first, with warnings to read before they are compared."""

    runs: ReportTable
    warnings: Sequence[str]
    topics: Sequence[Topic]


def colour(place: int) -> str:
    """Return the colour of a run, by its place: the baseline is the first."""
    palette = [one for one in looks().palette if one != looks().colours["unknown"]]
    return palette[place % len(palette)]


def bars(runs: Sequence[str], values: Sequence[Value], texts: Sequence[str]) -> list[Bar]:
    """Return a bar per run; that of an unknown value has no length."""
    tops = [abs(value) + (sd or 0) for value, sd in values if value is not None]
    longest = max(tops, default=0) or 1
    made = []
    for place, (run, (value, sd), text) in enumerate(zip(runs, values, texts, strict=True)):
        spread: tuple[float | None, float | None] = (None, None)
        if value is not None and sd:
            spread = (100 * max(0, abs(value) - sd) / longest, 100 * (abs(value) + sd) / longest)
        made.append(Bar(run, colour(place), text, 100 * abs(value or 0) / longest, *spread))
    return made


def spread(before: float | None, after: float | None) -> float | None:
    """Return the standard deviation of the difference of two intervals, one of each run; None where one is unknown."""
    return None if before is None or after is None else math.hypot(before, after)
