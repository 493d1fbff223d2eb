"""The series of a chart over time: their order, their colours, which are stacked, and where a line ends."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import cycle, islice
from typing import Any, NamedTuple

from counterflow.dashboards.definition import Chart, Series
from counterflow.dashboards.frames import Field, Frame
from counterflow.dashboards.largest import OTHERS
from counterflow.dashboards.looks import looks
from counterflow.dashboards.report.words import ms, number, plain

MOST_SERIES = 30
"""Nobody can distinguish more colours than that: the rest is `others`."""


class DrawnSeries(NamedTuple):
    """A series as it is drawn; `values` has one for each time, None where it is unknown."""

    name: str
    colour: str
    unit: str
    values: Sequence[float | None]
    stacked: bool
    right: bool = False
    dashed: bool = False


class Drawn(NamedTuple):
    """Series over the same times, ends of their intervals in milliseconds; `left_out` counts those left out."""

    times_ms: Sequence[int]
    series: Sequence[DrawnSeries]
    left_out: int = 0


def drawn(chart: Chart, frame: Frame) -> Drawn:
    """Return the series of a chart, in the order of its stack, without those that have no value at all."""
    fields = [Field(plain(name), [number(value) for value in values]) for name, values in frame.fields]
    left_out = 0
    if chart.open:
        fields, left_out = _largest(fields, stacked=chart.shape != "lines")
    if chart.ordered:
        fields = sorted(fields, key=lambda field: field.name)
    names = [field.name for field in fields if field.name != OTHERS]
    colours = dict(zip(names, sequence(len(names)) if chart.ordered else palette(len(names)), strict=True))
    made = [
        _series(chart, field, chart.series.get(field.name, Series()), colours)
        for field in fields
        if any(value is not None for value in field.values)
    ]
    return Drawn([ms(time) for time in frame.times], made, left_out)


def _series(chart: Chart, field: Field, known: Series, colours: dict[str, str]) -> DrawnSeries:
    colour = looks().colours[known.colour or "unknown"] if known.colour or field.name == OTHERS else colours[field.name]
    stacked = chart.shape != "lines" and not known.unstacked
    return DrawnSeries(field.name, colour, known.unit or chart.unit, field.values, stacked, known.right, known.dashed)


def _largest(fields: Sequence[Field], *, stacked: bool) -> tuple[list[Field], int]:
    """Return the fields by size; where there are too many, a stack sums up the rest, and lines leave it out."""
    named = sorted((f for f in fields if f.name != OTHERS), key=lambda f: -sum(value or 0 for value in f.values))
    rest = [f for f in fields if f.name == OTHERS]
    if len(named) + len(rest) > MOST_SERIES:
        named, small = named[: MOST_SERIES - 1], named[MOST_SERIES - 1 :]
        if not stacked:
            return [*named, *rest], len(small)
        rest += small
    if rest:
        named.append(Field(OTHERS, [_sum(values) for values in zip(*(f.values for f in rest), strict=True)]))
    return named, 0


def _sum(values: Sequence[Any]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def palette(count: int) -> list[str]:
    """Return `count` colours: those of looks.yaml, then their shades, then the same again."""
    return list(islice(cycle([*looks().palette, *looks().shades]), count))


def sequence(count: int) -> list[str]:
    """Return `count` colours in order, spread over the whole sequence of looks.yaml."""
    whole = looks().sequence
    return [whole[place * len(whole) // count] for place in range(count)]


def unbroken(
    times_ms: Sequence[int], values: Sequence[float | None], bridge_ms: float
) -> Iterator[list[tuple[int, float]]]:
    """Yield the points of each unbroken line; a line ends where no point follows within `bridge_ms`."""
    run: list[tuple[int, float]] = []
    for time, value in zip(times_ms, values, strict=True):
        if value is None:
            continue
        if run and time - run[-1][0] > bridge_ms:
            yield run
            run = []
        run.append((time, value))
    if run:
        yield run
