"""The table of predicted steps to another path of Db2's log, box or machine."""

from __future__ import annotations

from counterflow.analysis.whatif.log_path_backtest import steps


def table() -> str:
    lines = [
        "| change | from | to | figure | published | predicted | low | high | error % | |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for step in steps():
        figures = " | ".join(f"{value:.4g}" for value in (step.published, step.likely, step.low, step.high))
        runs = f"{step.before} | {step.after} | {step.name}, {step.unit}"
        within = "" if step.is_within else "outside"
        lines.append(f"| {step.change} | {runs} | {figures} | {step.error_pct:+.1f} | {within} |")
    return "\n".join(lines) + "\n"
