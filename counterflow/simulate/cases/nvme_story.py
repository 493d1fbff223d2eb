"""Ten minutes each of PostgreSQL over a storage server and over NVMe, from the LinuxONE paper.

These are the runs of `linuxone`, which lists the assumptions, shortened and renamed as those of another site.
"""

from __future__ import annotations

from dataclasses import replace

from counterflow.simulate.cases.linuxone import CASE as ALL
from counterflow.simulate.linuxone import DOCUMENT, LinuxCase

RUNS = {"pg-flash-update-heavy": "flash", "pg-nvme-update-heavy": "nvme"}

CASE = LinuxCase(
    title="PostgreSQL over a storage server, then over NVMe: equal throughput (from the LinuxONE NVMe paper)",
    document=DOCUMENT,
    interval_s=60,
    runs=tuple(
        replace(run, name=RUNS[run.name], system="LNXSTORY", intervals=10) for run in ALL.runs if run.name in RUNS
    ),
    pause=2,
)
