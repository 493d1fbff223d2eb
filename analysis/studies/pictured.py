"""A comparison of runs as the report shows it: names and units in words, pictures first, then tables."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from counterflow.analysis.studies import compare, written
from counterflow.analysis.studies.figures import Measured
from counterflow.dashboards.report.figures import Cell, ReportTable, simple
from counterflow.dashboards.report.pairs import DrawnComparison, Pair, Topic, bars, spread
from counterflow.schemas.definition import load_yaml

_TITLES = {"cpu": "Processors", "io": "Disks", "parts": "Parts of the product", "price": "Price"}
_COMPONENTS = 10
"""Number of components drawn per system, the largest first."""


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


def _table(rows: Sequence[compare.ComparedFigure], runs: Sequence[Measured]) -> ReportTable:
    """Return the table of `study compare`, with the names of figures in words."""
    made = []
    for row in rows:
        cells = dict(written.cells(row, runs))
        cells["figure"] = " · ".join(filter(None, (_of(row), words(row.key.name).text)))
        made.append([Cell(text, name not in ("figure", "unit", "note")) for name, text in cells.items()])
    return ReportTable([name.capitalize() for name in dict(written.cells(rows[0], runs))], made)
