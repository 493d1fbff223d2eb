"""Labelled runs beside each other: a bar a run for each figure, with its spread, and the difference to the baseline."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from counterflow.dashboards.definition import looks
from counterflow.dashboards.report.figures import Table


class Value(NamedTuple):
    """A figure of a run and the standard deviation of its intervals; None is unknown."""

    value: float | None
    sd: float | None = None


class Bar(NamedTuple):
    """A bar in percent of the longest of its figure: its length, and from where to where its intervals spread."""

    run: str
    colour: str
    text: str
    length: float
    low: float | None = None
    high: float | None = None


class Difference(NamedTuple):
    """Of a run to the baseline, worded: in percent, and in the unit with its spread."""

    pct: str
    text: str


class Pair(NamedTuple):
    """One figure of all runs; `what` it is, `of` which system and thing."""

    what: str
    of: str
    unit: str
    bars: Sequence[Bar]
    differences: Sequence[Difference]


class Topic(NamedTuple):
    """Figures of one kind, the pictures first."""

    title: str
    pairs: Sequence[Pair]
    table: Table


class Comparison(NamedTuple):
    """Runs, the baseline first, with what is to be known before they are compared."""

    runs: Table
    warnings: Sequence[str]
    topics: Sequence[Topic]


def colour(place: int) -> str:
    """Return the colour of a run, by its place: the baseline is the first."""
    palette = [one for one in looks().palette if one != looks().colours["unknown"]]
    return palette[place % len(palette)]


def bars(runs: Sequence[str], values: Sequence[Value], texts: Sequence[str]) -> list[Bar]:
    """Return a bar a run; one that is unknown has no length."""
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
    """Return the standard deviation of the difference of two intervals, one of each run; None without theirs."""
    return None if before.sd is None or after.sd is None else math.hypot(before.sd, after.sd)
