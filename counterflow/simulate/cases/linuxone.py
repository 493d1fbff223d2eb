"""PostgreSQL and Db2 Warehouse on LinuxONE over NVMe and over a storage server.

From the document: 30 processors, 16 GB for PostgreSQL and 128 to 256 GB for Db2 Warehouse; four NVMe in RAID-10 against
two FCP adapters to a FlashSystem 900, or a Storwize V7000 with HDD; YCSB with 256 threads, records of 64 KB, 25
minutes, read-only, 95 % reads and 50 % reads; five users of queries; equal throughput, and twice the throughput with
too little memory; price-performance 92, 79 and 90 %.

Assumed: every absolute figure, since none is printed. Prices are shares: 0.08 and 0.21 of the storage server's are what
92 and 79 % at equal throughput imply. Runs of queries last an hour; 128 GB is "constrained", 256 GB "sufficient".
Nearly all reads of YCSB miss the memory of 16 GB; queries read in bursts, twice as much with half the memory.
"""

from __future__ import annotations

from counterflow.simulate.linuxone import DOCUMENT, LinuxCase, LinuxRun, Load
from counterflow.simulate.published import table

RECORD_KB, THREADS, USERS = 64, 256, 5
PG_MINUTES, BDI_MINUTES = 25, 60
MISSED = 1 - 16 / 256
"""Reads that are not in memory: 16 GB of it, 256 GB of data."""
MIXES = {"read-only": (24_000, 1.0), "read-mostly": (20_000, 0.95), "update-heavy": (12_000, 0.5)}
"""Operations a second and the part of them that reads."""
QUERIES = {("nvme", 256): 300, ("v7000", 256): 300, ("nvme", 128): 240, ("v7000", 128): 120}
SERVICE_MS = {"nvme": 0.12, "flash": 0.25, "v7000": 6.0}
PRICES = {"flash": 0.08, "v7000": 0.21}
PUBLISHED = {
    row["nvme"]: {key: row[key] for key in ("throughput_ratio", "price_performance_pct")} for row in table("linuxone")
}


def _pg(mix: str, storage: str) -> LinuxRun:
    rate, reads = MIXES[mix]
    operations = {"READ": rate * reads, "UPDATE": rate * (1 - reads)}
    mb_s = {kind: of * RECORD_KB / 1024 for kind, of in operations.items()}
    return LinuxRun(
        name=f"pg-{storage}-{mix}",
        system="LNXPG",
        storage="nvme" if storage == "nvme" else "fcp",
        intervals=PG_MINUTES,
        load=Load(MISSED * (mb_s["READ"] + mb_s["UPDATE"]), mb_s["UPDATE"], RECORD_KB, RECORD_KB, 0.02),
        service_ms=SERVICE_MS[storage],
        cpu_pct=40.0,
        users=THREADS,
        memory_gb=16,
        price=PRICES["flash"] if storage == "nvme" else 1.0,
        operations={kind: of for kind, of in operations.items() if of},
        published=PUBLISHED.get(f"pg-{storage}", {}),
    )


def _bdi(storage: str, memory_gb: int) -> LinuxRun:
    queries = QUERIES[storage, memory_gb]
    return LinuxRun(
        name=f"bdi-{storage}-{memory_gb}gb",
        system="LNXDW",
        storage="nvme" if storage == "nvme" else "fcp",
        intervals=BDI_MINUTES,
        load=Load(queries * (256 / memory_gb) ** 2, queries / 20, 512, 256, 0.9),
        service_ms=SERVICE_MS[storage],
        cpu_pct=60.0 * queries / max(QUERIES.values()),
        users=USERS,
        memory_gb=memory_gb,
        price=PRICES["v7000"] if storage == "nvme" else 1.0,
        queries=queries,
        published=PUBLISHED.get(f"bdi-{storage}-{memory_gb}gb", {}),
    )


CASE = LinuxCase(
    title="PostgreSQL and Db2 Warehouse over NVMe and over a storage server (LinuxONE NVMe paper)",
    document=DOCUMENT,
    interval_s=60,
    runs=(
        *(_pg(mix, storage) for mix in MIXES for storage in ("flash", "nvme")),
        *(_bdi(storage, memory_gb) for memory_gb in (256, 128) for storage in ("v7000", "nvme")),
    ),
    pause=5,
)
