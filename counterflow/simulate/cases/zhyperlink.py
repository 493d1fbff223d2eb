"""The five runs of the zHyperLink study, an hour of each."""

from __future__ import annotations

from counterflow.simulate.cases._zhyperlink import ROWS, log_run
from counterflow.simulate.zos import DOCUMENT, LogCase

CASE = LogCase(
    title="Db2 active log over zHPF and zHyperLink, z16 and z17, DS8950 and DS8A50 (zHyperLink study, 5 and 6)",
    document=DOCUMENT,
    interval_s=60,
    runs=tuple(log_run(name, {"z16": "Z16A", "z17": "Z17A"}[row["cec"]], 60) for name, row in ROWS.items()),
    noise=0.005,
    pause=5,
)
