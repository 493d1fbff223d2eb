"""A comparison of runs as the report shows it: names and units in words, pictures first, then tables."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from counterflow.analysis.studies import compare, written
from counterflow.analysis.studies.figures import MeasuredRun
from counterflow.dashboards.looks import looks
from counterflow.dashboards.report.figures import Cell, ReportTable, simple
from counterflow.schemas.definition import load_yaml

_TITLES = {"cpu": "Processors", "io": "Disks", "parts": "Parts of the product", "price": "Price"}
_COMPONENTS = 10
"""Number of components drawn per system, the largest first."""

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


class Words(NamedTuple):
    """The name of a figure without its unit, and whether it is drawn."""

    text: str
    drawn: bool = False


@cache
def _stated() -> dict[str, Words]:
    text = Path(__file__).with_name("words.yaml").read_text(encoding="utf-8")
    return {name: Words(**fields) for name, fields in load_yaml(text).items()}


def words(name: str) -> Words:
    """Return the words of a figure; without any, its name, which is not drawn."""
    return _stated().get(name) or Words(name.replace("_", " ").capitalize())


def side_by_side(comparison: compare.Comparison) -> DrawnComparison:
    """Return the comparison for the report."""
    heads = list(written.header(comparison.runs))
    runs = simple([name.capitalize() for name in heads[0]], [list(head.values()) for head in heads])
    names = [run.run.name for run in comparison.runs]
    topics = []
    for name, rows in written.tables(comparison).items():
        shown = compare.largest(rows, _COMPONENTS) if name in ("components", "parts") else rows
        drawn = [
            row for row in shown if words(row.key.name).drawn and any(one.value is not None for one in row.figures)
        ]
        pairs = [_pair(row, names) for row in drawn]
        topics.append(Topic(_TITLES.get(name, name.capitalize()), pairs, _table(rows, comparison.runs)))
    return DrawnComparison(runs, comparison.warnings, topics)


def _pair(row: compare.ComparedFigure, runs: Sequence[str]) -> Pair:
    texts = [compare.ABSENT if one.value is None else _spread(one.value, one.sd) for one in row.figures]
    base = row.figures[0]
    apart = []
    for figure, one in zip(row.figures[1:], row.differences, strict=True):
        pct = "" if one.pct is None else f"{one.pct:+.1f} %"
        apart.append((pct, "" if one.value is None else _spread(one.value, spread(base.sd, figure.sd), sign="+")))
    drawn = bars(runs, [(one.value, one.sd) for one in row.figures], texts)
    return Pair(words(row.key.name).text, _of(row), row.unit, drawn, apart)


def _of(row: compare.ComparedFigure) -> str:
    return " · ".join(filter(None, (row.key.system, row.key.of)))


def _spread(value: float, sd: float | None, sign: str = "") -> str:
    text = written.worded(value)
    text = sign + text if sign and value > 0 else text
    return text if not sd or sd <= 1e-9 * abs(value) else f"{text} ± {written.worded(float(f'{sd:.2g}'))}"


def _table(rows: Sequence[compare.ComparedFigure], runs: Sequence[MeasuredRun]) -> ReportTable:
    """Return the table of `study compare`, with the names of figures in words."""
    made = []
    for row in rows:
        cells = dict(written.cells(row, runs))
        cells["figure"] = " · ".join(filter(None, (_of(row), words(row.key.name).text)))
        made.append([Cell(text, name not in ("figure", "unit", "note")) for name, text in cells.items()])
    return ReportTable([name.capitalize() for name in dict(written.cells(rows[0], runs))], made)


def bars(runs: Sequence[str], values: Sequence[Value], texts: Sequence[str]) -> list[Bar]:
    """Return a bar per run, each in a colour of its own; that of an unknown value has no length."""
    colours = [one for one in looks().palette if one != looks().colours["unknown"]]
    tops = [abs(value) + (sd or 0) for value, sd in values if value is not None]
    longest = max(tops, default=0) or 1
    made = []
    for place, (run, (value, sd), text) in enumerate(zip(runs, values, texts, strict=True)):
        spread: tuple[float | None, float | None] = (None, None)
        if value is not None and sd:
            spread = (100 * max(0, abs(value) - sd) / longest, 100 * (abs(value) + sd) / longest)
        made.append(Bar(run, colours[place % len(colours)], text, 100 * abs(value or 0) / longest, *spread))
    return made


def spread(before: float | None, after: float | None) -> float | None:
    """Return the standard deviation of the difference of two intervals, one of each run; None where one is unknown."""
    return None if before is None or after is None else math.hypot(before, after)
