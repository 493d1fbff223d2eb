"""Writes a comparison as cells of a table, CSV and JSON. Names come from data, so none becomes a formula."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from counterflow.analysis.studies.compare import ABSENT, ComparedFigure, Comparison
from counterflow.analysis.studies.figures import Figure, MeasuredRun
from counterflow.analysis.studies.formulas import PRICE_PERFORMANCE, Number
from counterflow.analysis.studies.runs import iso

_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
"""First characters that a spreadsheet takes for a formula."""

_RUN = ("table", "system", "of", "figure", "unit", "run", "value", "intervals", "sd", "min", "max")
_COLUMNS = (*_RUN, "difference", "difference_pct", "reason")


def worded(value: Number) -> str:
    """Format a number with four significant digits; a missing one is a dash."""
    if value is None:
        return "-"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.4g}" if abs(value) >= 1e-3 or not value else f"{value:.3e}"


def with_spread(figure: Figure) -> str:
    """Format a figure with standard deviation, minimum and maximum of its intervals."""
    if figure.value is None or figure.sd is None or figure.sd <= 1e-9 * abs(figure.value):  # rounding errors of sums
        return worded(figure.value)
    deviation = worded(float(f"{figure.sd:.2g}"))
    return f"{worded(figure.value)} ±{deviation} ({worded(figure.low)} to {worded(figure.high)})"


def named(row: ComparedFigure) -> str:
    return " ".join(filter(None, (row.key.system, row.key.of, row.key.name)))


def tables(comparison: Comparison) -> dict[str, list[ComparedFigure]]:
    found: dict[str, list[ComparedFigure]] = {}
    for row in comparison.rows:
        found.setdefault(row.key.table, []).append(row)
    return found


def header(runs: Iterable[MeasuredRun]) -> Iterator[dict[str, str]]:
    for run in runs:
        yield {
            "run": run.run.name,
            "systems": ", ".join(run.run.systems),
            "from": iso(run.run.begin_s + run.run.warm_up_s),
            "to": iso(run.run.end_s),
            "compared, s": worded(run.run.seconds),
            "warm-up, s": worded(run.run.warm_up_s),
            "work": run.work.unit or "-",
        }


def cells(row: ComparedFigure, runs: Sequence[MeasuredRun]) -> Iterator[tuple[str, str]]:
    """Yield the cells of a row with their headings, numbers formatted."""
    yield "figure", named(row)
    yield "unit", row.unit
    base, *others = row.figures
    yield f"baseline {runs[0].run.name}", with_spread(base)
    for number, (run, figure, apart) in enumerate(zip(runs[1:], others, row.differences, strict=True), 1):
        several = f" {number}" if len(others) > 1 else ""  # headings are keys, so they must differ
        yield f"scenario{several} {run.run.name}", with_spread(figure)
        yield f"diff{several}", worded(apart.value)
        yield f"diff{several} %", "-" if apart.pct is None else f"{apart.pct:+.1f}"
    yield "intervals", "/".join(str(figure.n) if figure.n else "-" for figure in row.figures)
    reasons = dict.fromkeys(figure.reason for figure in row.figures if figure.reason)
    reasons |= dict.fromkeys(apart.reason for apart in row.differences if apart.reason)
    reasons.pop(ABSENT, None)  # the dash is enough
    yield "note", "; ".join(reason for reason in reasons if reason)


def as_csv(comparison: Comparison) -> str:
    """Return one unrounded line per figure and run; text that looks like a spreadsheet formula begins with `'`."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for row in comparison.rows:
        apart = (None, *row.differences)
        for run, figure, diff in zip(comparison.runs, row.figures, apart, strict=True):
            reason = figure.reason or (diff.reason if diff else None) or ""
            writer.writerow(
                [_harmless(text) for text in (*row.key, figure.unit, run.run.name)]
                + [figure.value, figure.n, figure.sd, figure.low, figure.high]
                + [diff.value if diff else None, diff.pct if diff else None, _harmless(reason)]
            )
    return out.getvalue()


def _harmless(text: str) -> str:
    return "'" + text if text.lstrip(" \n").startswith(_FORMULA_STARTS) else text


def as_dict(comparison: Comparison) -> dict[str, Any]:
    return {
        "runs": [
            {
                "run": run.run.name,
                "systems": run.run.systems,
                "begin": iso(run.run.begin_s),
                "end": iso(run.run.end_s),
                "warm_up_s": run.run.warm_up_s,
                "seconds": run.run.seconds,
                "unit_of_work": run.work.unit or None,
                "users": run.users,
            }
            for run in comparison.runs
        ],
        "warnings": comparison.warnings,
        "formulas": [PRICE_PERFORMANCE, *comparison.formulas] if comparison.formulas else [],
        "rows": [
            {
                **row.key._asdict(),
                "unit": row.unit,
                "runs": [
                    {"run": run.run.name, **figure._asdict()}
                    for run, figure in zip(comparison.runs, row.figures, strict=True)
                ],
                "differences": [
                    {"run": run.run.name, **apart._asdict()}
                    for run, apart in zip(comparison.runs[1:], row.differences, strict=True)
                ],
            }
            for row in comparison.rows
        ],
    }
