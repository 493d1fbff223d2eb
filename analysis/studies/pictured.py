"""A comparison of runs as the report shows it: names and units in words, pictures first, then tables."""

from __future__ import annotations

from collections.abc import Sequence

from counterflow.analysis.studies import compare, written
from counterflow.analysis.studies.words import words
from counterflow.dashboards.report.figures import Cell, ReportTable, simple
from counterflow.dashboards.report.pairs import DrawnComparison, Pair, Topic, Value, WordedDifference, bars, spread

_TITLES = {"cpu": "Processors", "io": "Disks", "parts": "Parts of the product", "price": "Price"}
_COMPONENTS = 10
"""Number of components drawn per system, the largest first."""


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
        topics.append(Topic(_TITLES.get(name, name.capitalize()), pairs, _table(rows, names)))
    return DrawnComparison(runs, comparison.warnings, topics)


def _pair(row: compare.ComparedFigure, runs: Sequence[str]) -> Pair:
    values = [Value(one.value, one.sd) for one in row.figures]
    texts = [compare.ABSENT if one.value is None else _spread(one.value, one.sd) for one in row.figures]
    apart = []
    for value, one in zip(values[1:], row.differences, strict=True):
        pct = "" if one.pct is None else f"{one.pct:+.1f} %"
        text = "" if one.value is None else _spread(one.value, spread(values[0], value), sign="+")
        apart.append(WordedDifference(pct, text))
    return Pair(words(row.key.name).text, _of(row), row.unit, bars(runs, values, texts), apart)


def _of(row: compare.ComparedFigure) -> str:
    return " · ".join(filter(None, (row.key.system, row.key.of)))


def _spread(value: float, sd: float | None, sign: str = "") -> str:
    text = written.worded(value)
    text = sign + text if sign and value > 0 else text
    return text if not sd or sd <= 1e-9 * abs(value) else f"{text} ± {written.worded(float(f'{sd:.2g}'))}"


def _table(rows: Sequence[compare.ComparedFigure], runs: Sequence[str]) -> ReportTable:
    several = len(runs) > 2
    head = ["Figure", "Unit"]
    for place, run in enumerate(runs):
        head += [run, "Spread", "Lowest to highest"]
        if place:
            head += [f"Difference of {run}" if several else "Difference", "In percent"]
    notes = [_note(row) for row in rows]
    noted = [*head, "Note"] if any(notes) else head
    made = []
    for row, note in zip(rows, notes, strict=True):
        name = " · ".join(filter(None, (_of(row), words(row.key.name).text)))
        cells = [Cell(name), Cell(row.unit)]
        for place, one in enumerate(row.figures):
            varied = one.sd is not None and one.value is not None and one.sd > 1e-9 * abs(one.value)
            between = f"{written.worded(one.low)} to {written.worded(one.high)}" if varied else ""
            around = f"± {written.worded(float(f'{one.sd:.2g}'))}" if varied else ""
            cells += [Cell(text, numeric=True) for text in (written.worded(one.value), around, between)]
            if place:
                apart = row.differences[place - 1]
                pct = "-" if apart.pct is None else f"{apart.pct:+.1f}"
                cells += [Cell(written.worded(apart.value), numeric=True), Cell(pct, numeric=True)]
        made.append([*cells, Cell(note)] if any(notes) else cells)
    return ReportTable(noted, made)


def _note(row: compare.ComparedFigure) -> str:
    reasons = [*(one.reason for one in row.figures), *(one.reason for one in row.differences)]
    return "; ".join(dict.fromkeys(reason for reason in reasons if reason and reason != compare.ABSENT))
