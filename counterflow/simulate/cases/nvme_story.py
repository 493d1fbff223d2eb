"""Ten minutes each of PostgreSQL on LinuxONE over a storage server and over NVMe: docs/studies/linuxone-nvme.md."""

from __future__ import annotations

from counterflow.simulate.linuxone import LinuxCase, LinuxRun, Load

RECORD_KB, THREADS, MEMORY_GB = 64, 256, 16
MISSED = 1 - 16 / 256
"""Reads that are not in memory: 16 GB of it, 256 GB of data."""
OPERATIONS_S = {"READ": 6_000.0, "UPDATE": 6_000.0}
SERVICE_MS = {"nvme": 0.12, "flash": 0.25}
PRICES = {"nvme": 0.08, "flash": 1.0}
PUBLISHED = {"throughput_ratio": "1", "price_performance_pct": "92"}


def _run(name: str) -> LinuxRun:
    mb_s = {kind: of * RECORD_KB / 1024 for kind, of in OPERATIONS_S.items()}
    return LinuxRun(
        name=name,
        system="LNXSTORY",
        storage="nvme" if name == "nvme" else "fcp",
        intervals=10,
        load=Load(MISSED * (mb_s["READ"] + mb_s["UPDATE"]), mb_s["UPDATE"], RECORD_KB, RECORD_KB, 0.02),
        service_ms=SERVICE_MS[name],
        cpu_pct=40.0,
        users=THREADS,
        memory_gb=MEMORY_GB,
        price=PRICES[name],
        operations=OPERATIONS_S,
        published=PUBLISHED if name == "nvme" else {},
    )


CASE = LinuxCase(
    title="PostgreSQL over a storage server, then over NVMe: equal throughput (from the LinuxONE NVMe paper)",
    interval_s=60,
    runs=(_run("flash"), _run("nvme")),
    pause=2,
)
