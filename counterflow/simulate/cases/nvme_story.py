"""Ten minutes each of PostgreSQL over a storage server and over NVMe, from the LinuxONE paper.

What is assumed: `linuxone`, whose runs these are, cut short.
"""

from __future__ import annotations

from dataclasses import replace

from counterflow.simulate.cases.linuxone import CASE as ALL
from counterflow.simulate.linuxone import DOCUMENT, LinuxCase

RUNS = ("pg-flash-update-heavy", "pg-nvme-update-heavy")

CASE = LinuxCase(
    title="PostgreSQL over a storage server, then over NVMe: equal throughput (from the LinuxONE NVMe paper)",
    document=DOCUMENT,
    interval_s=60,
    runs=tuple(replace(run, intervals=10) for run in ALL.runs if run.name in RUNS),
    pause=2,
)
