"""The four measured runs of the zHyperLink study with 70 % of their load, 20 minutes each: no runs of the document."""

from __future__ import annotations

from counterflow.simulate.cases._zhyperlink import ROWS, log_run
from counterflow.simulate.zos import DOCUMENT, LogCase

CASE = LogCase(
    title="The same logs at 70 % of their ceilings (made from the zHyperLink study)",
    document=DOCUMENT,
    interval_s=60,
    runs=tuple(
        log_run(name, {"z16": "Z16B", "z17": "Z17B"}[row["cec"]], 20, name=f"{name}-70", scale=0.7)
        for name, row in ROWS.items()
        if "log_mb_s" in row
    ),
    noise=0.005,
    pause=5,
)
