"""The table of predicted steps to another path of Db2's log, box or machine."""

from __future__ import annotations

from counterflow.analysis.whatif.log_path_backtest import steps
from docs.generators import markdown


def table() -> str:
    rows = []
    for step in steps():
        figures = (f"{value:.4g}" for value in (step.published, step.likely, step.low, step.high))
        within = None if step.is_within else "outside"
        what = (step.change, step.before, step.after, f"{step.name}, {step.unit}")
        rows.append((*what, *figures, f"{step.error_pct:+.1f}", within))
    head = ("change", "from", "to", "figure", "published", "predicted", "low", "high", "error %", "")
    return markdown.table(head, rows)
