"""Labelled runs side by side: for each figure a bar per run with its spread, and the difference to the baseline."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from counterflow.dashboards.looks import looks
from counterflow.dashboards.report.figures import ReportTable


class Value(NamedTuple):
    """A figure of a run and the standard deviation of its intervals; None is unknown."""

    value: float | None
    sd: float | None = None


class Bar(NamedTuple):
    """A bar in percent of the longest of its figure: its length, and the ends of the spread of its intervals."""

    run: str
    colour: str
    text: str
    length: float
    low: float | None = None
    high: float | None = None


class WordedDifference(NamedTuple):
    """The difference of a run to the baseline in words: in percent, and in the unit with its spread."""

    pct: str
    text: str


class Pair(NamedTuple):
    """One figure of all runs: `what` it is, and the system and thing that it is `of`."""

    what: str
    of: str
    unit: str
    bars: Sequence[Bar]
    differences: Sequence[WordedDifference]


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
    tops = [abs(one.value) + (one.sd or 0) for one in values if one.value is not None]
    longest = max(tops, default=0) or 1
    made = []
    for place, (run, one, text) in enumerate(zip(runs, values, texts, strict=True)):
        spread: tuple[float | None, float | None] = (None, None)
        if one.value is not None and one.sd:
            spread = (100 * max(0, abs(one.value) - one.sd) / longest, 100 * (abs(one.value) + one.sd) / longest)
        made.append(Bar(run, colour(place), text, 100 * abs(one.value or 0) / longest, *spread))
    return made


def spread(before: Value, after: Value) -> float | None:
    """Return the standard deviation of the difference of two intervals, one of each run; None where one is unknown."""
    return None if before.sd is None or after.sd is None else math.hypot(before.sd, after.sd)
