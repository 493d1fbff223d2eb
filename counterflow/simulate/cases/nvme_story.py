"""Ten minutes each of PostgreSQL on LinuxONE over a storage server and over NVMe, as nmon and YCSB would show them.

docs/studies/linuxone-nvme.md has what is from the paper and what is assumed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from random import Random

from counterflow.simulate import nmon_linux, site, ycsb
from counterflow.simulate.case import Case, Placed, SimulatedFile, SimulatedRun
from counterflow.simulate.nmon import Disk, Host, Snapshot
from counterflow.simulate.spread import uneven

SYSTEM, PROCESSORS, MEMORY_GB = "LNXSTORY", 30, 16
"""The LPAR of the database, with which the output of its driver is stored."""
MEMBERS, PATHS = 4, 4
"""NVMe devices of the RAID-10, each with one partition; paths of the multipath device."""
DEVICES = (
    *("dasda", "dasda1", "dasda2", "dasda3"),
    *(name for n in range(MEMBERS) for name in (f"nvme{n}n1", f"nvme{n}n1p1")),
    "md0",
    *(f"sd{letter}" for letter in "abcd"[:PATHS]),
    "dm-0",
)
RECORD_KB, THREADS, CPU_PCT = 64, 256, 40.0
OPERATIONS_S = {"READ": 6_000.0, "UPDATE": 6_000.0}
MISSED = 1 - 16 / 256
"""Reads that are not in memory: 16 GB of it, 256 GB of data."""
READ_MB_S = MISSED * sum(OPERATIONS_S.values()) * RECORD_KB / 1024
WRITE_MB_S = OPERATIONS_S["UPDATE"] * RECORD_KB / 1024
BURST = 0.02
"""Unevenness of the load, as a ratio."""


@dataclass(frozen=True, kw_only=True)
class LinuxRun(SimulatedRun):
    """One run.

    Parameters
    ----------
    shares : part of the reads and of the writes that each device carries, by the begin of its name.
    service_ms : of a transfer.
    price : of the storage, as a share of another price.
    """

    shares: dict[str, tuple[float, float]]
    service_ms: float
    price: float


class LinuxCase(Case[LinuxRun]):
    """Runs over both kinds of storage; the files are a folder of the LPAR, and `SITE`."""

    document = "docs/studies/linuxone-nvme.md"

    def files(self, placed: Sequence[Placed[LinuxRun]], seed: str) -> Iterator[SimulatedFile]:
        for one in placed:
            run, random = one.run, Random(f"{seed}/{one.run.name}")  # noqa: S311 - noise
            yield SimulatedFile(SYSTEM, f"{run.name}.nmon", _recording(one, self.interval_s, random))
            output = ycsb.lines(OPERATIONS_S, THREADS, one.begin, one.seconds, random)
            yield SimulatedFile(SYSTEM, f"ycsb_{run.name}.txt", output)
        yield SimulatedFile(None, "site.yaml", site.lines(_site(placed)))


def _recording(one: Placed[LinuxRun], interval_s: int, random: Random) -> Iterator[str]:
    """Yield the recording of nmon: two snapshots before the run, the first of them short, and the run."""
    host = Host(SYSTEM, PROCESSORS, MEMORY_GB * 1024, DEVICES)
    bursts = uneven(one.run.intervals, random, BURST)
    mean = sum(bursts) / len(bursts)
    before = timedelta(seconds=interval_s)
    snapshots = [Snapshot(at, 1.0, _devices(one.run, 0.0)) for at in (one.begin - before, one.begin)]
    for interval, over in zip(one.intervals, bursts, strict=True):
        snapshots.append(Snapshot(interval.end, CPU_PCT, _devices(one.run, over / mean), wait_pct=5.0))
    return nmon_linux.recording(host, interval_s, snapshots)


def _devices(run: LinuxRun, over: float) -> list[Disk]:
    """Return the load of each device: the logical load, and that of the RAID-10 members or paths below it."""
    reads, writes = (mb_s * 1024 * over for mb_s in (READ_MB_S, WRITE_MB_S))
    parts = (next((part for of, part in run.shares.items() if name.startswith(of)), (0.0, 0.0)) for name in DEVICES)
    return [Disk(reads * read, writes * write, RECORD_KB, RECORD_KB, run.service_ms) for read, write in parts]


def _site(placed: Sequence[Placed[LinuxRun]]) -> Iterator[site.Entry]:
    begin = placed[0].begin
    for one in placed:
        yield "prices", {"from": begin, "name": one.run.name, "amount": one.run.price, "currency": "XXX"}
        yield site.run(one, "ycsb", "operations", {"core": PROCESSORS})


# a path carries a part of the multipath device's load
FLASH = LinuxRun(
    name="flash",
    system=SYSTEM,
    intervals=10,
    shares={"dm-0": (1.0, 1.0), "sd": (1 / PATHS, 1 / PATHS)},
    service_ms=0.25,
    price=1.0,
)
# a write to the RAID-10 goes to two of its four members
NVME = LinuxRun(
    name="nvme",
    system=SYSTEM,
    intervals=10,
    shares={"md0": (1.0, 1.0), "nvme": (1 / MEMBERS, 2 / MEMBERS)},
    service_ms=0.12,
    price=0.08,
    published={"throughput_ratio": "1", "price_performance_pct": "92"},
)

CASE = LinuxCase(
    title="PostgreSQL over a storage server, then over NVMe: equal throughput (from the LinuxONE NVMe paper)",
    interval_s=60,
    runs=(FLASH, NVME),
    pause=2,
)
