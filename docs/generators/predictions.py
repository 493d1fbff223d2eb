"""The table of predicted runs of Db2 Mirror."""

from __future__ import annotations

from counterflow.analysis.studies.backtest import predictions


def table() -> str:
    lines = [
        "| table | run | figure | published | predicted | low | high | error % | |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for p in predictions():
        number, run, what = p.id.split("/")
        high = "no limit" if p.high is None else _short(p.high)
        error = "" if p.error_pct is None else f"{p.error_pct:+.1f}"
        figures = " | ".join((_short(p.published), _short(p.predicted), _short(p.low), high, error))
        lines.append(
            f"| {number} | {run} | {what}, {p.unit} | {figures} | {'' if p.inside else 'outside: ' + p.note} |"
        )
    return "\n".join(lines) + "\n"


def _short(value: float) -> str:
    digits = 0 if abs(value) >= 1000 else 1 if abs(value) >= 10 else 2
    return f"{value:,.{digits}f}"
