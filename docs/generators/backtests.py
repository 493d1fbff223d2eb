"""The tables of predictions beside printed figures."""

from __future__ import annotations

from counterflow.analysis.whatif.log_path_backtest import steps
from docs.generators import table
from tests.golden.mirror_backtest import predictions

FIGURES = ("published", "predicted", "low", "high", "error %", "")


def mirror() -> str:
    """Return the predicted runs of Db2 Mirror, in Markdown."""
    rows = []
    for p in predictions():
        number, run, what = p.id.split("/")
        figures = map(_short, (p.published, p.predicted, p.low, p.high))
        error = None if p.error_pct is None else f"{p.error_pct:+.1f}"
        rows.append((number, run, f"{what}, {p.unit}", *figures, error, None if p.inside else f"outside: {p.note}"))
    return table(("table", "run", "figure", *FIGURES), rows)


def log_path() -> str:
    """Return the predicted steps to another path of Db2's log, box or machine, in Markdown."""
    rows = []
    for step in steps():
        figures = map(_short, (step.published, step.likely, step.low, step.high))
        what = (step.change, step.before, step.after, f"{step.name}, {step.unit}")
        rows.append((*what, *figures, f"{step.error_pct:+.1f}", None if step.is_within else "outside"))
    return table(("change", "from", "to", "figure", *FIGURES), rows)


def _short(value: float | None) -> str:
    if value is None:
        return "no limit"
    digits = 0 if abs(value) >= 1000 else 1 if abs(value) >= 10 else 2
    return f"{value:,.{digits}f}"
