"""The table of predicted runs of Db2 Mirror."""

from __future__ import annotations

from counterflow.analysis.studies.backtest import predictions
from docs.generators import markdown


def table() -> str:
    rows = []
    for p in predictions():
        number, run, what = p.id.split("/")
        high = "no limit" if p.high is None else _short(p.high)
        error = None if p.error_pct is None else f"{p.error_pct:+.1f}"
        figures = _short(p.published), _short(p.predicted), _short(p.low), high, error
        rows.append((number, run, f"{what}, {p.unit}", *figures, None if p.inside else f"outside: {p.note}"))
    head = ("table", "run", "figure", "published", "predicted", "low", "high", "error %", "")
    return markdown.table(head, rows)


def _short(value: float) -> str:
    digits = 0 if abs(value) >= 1000 else 1 if abs(value) >= 10 else 2
    return f"{value:,.{digits}f}"
