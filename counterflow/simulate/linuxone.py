"""A database on LinuxONE over direct NVMe storage and over a storage server: nmon and output of YCSB."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from random import Random

from counterflow.simulate import nmon_linux, site, ycsb
from counterflow.simulate.case import Case, File, Placed, Run
from counterflow.simulate.nmon import Disk, Host, Snapshot
from counterflow.simulate.spread import uneven

PROCESSORS = 30
MEMBERS, PATHS = 4, 4
"""NVMe devices of the RAID-10, each with one partition; paths of the multipath device."""
NVME = tuple(f"nvme{n}n1" for n in range(MEMBERS))
DEVICES = (
    *("dasda", "dasda1", "dasda2", "dasda3"),
    *(name for member in NVME for name in (member, f"{member}p1")),
    "md0",
    *(f"sd{letter}" for letter in "abcd"[:PATHS]),
    "dm-0",
)


@dataclass(frozen=True)
class Load:
    """Storage load of a database a second, means of the run; `burst` is its unevenness, as a ratio."""

    read_mb_s: float
    write_mb_s: float
    read_kb: float
    write_kb: float
    burst: float


@dataclass(frozen=True, kw_only=True)
class LinuxRun(Run):
    """One run; `system` is the LPAR of the database, with which the output of its driver is stored.

    Parameters
    ----------
    storage : `nvme` or `fcp`.
    service_ms : of a transfer on that storage.
    operations : of YCSB, a second, by kind.
    users : threads of YCSB.
    memory_gb : of the LPAR.
    price : of the storage, as a share of another price.
    """

    storage: str
    load: Load
    service_ms: float
    cpu_pct: float
    users: int
    memory_gb: int
    price: float
    operations: Mapping[str, float]


class LinuxCase(Case[LinuxRun]):
    """Runs over both kinds of storage; the files are a folder per LPAR, and `SITE`."""

    document = "docs/studies/linuxone-nvme.md"

    def files(self, placed: Sequence[Placed[LinuxRun]], seed: str) -> Iterator[File]:
        for one in placed:
            run, random = one.run, Random(f"{seed}/{one.run.name}")  # noqa: S311 - noise
            yield File(run.system, f"{run.name}.nmon", _recording(one, self.interval_s, random))
            output = ycsb.lines(run.operations, run.users, one.begin, one.seconds, random)
            yield File(run.system, f"ycsb_{run.name}.txt", output)
        yield File(None, "site.yaml", site.lines(_site(placed)))


def _recording(one: Placed[LinuxRun], interval_s: int, random: Random) -> Iterator[str]:
    """Yield the recording of nmon: two snapshots before the run, the first of them short, and the run."""
    run = one.run
    host = Host(run.system, PROCESSORS, run.memory_gb * 1024, DEVICES)
    bursts = uneven(run.intervals, random, run.load.burst)
    mean = sum(bursts) / len(bursts)
    before = timedelta(seconds=interval_s)
    snapshots = [Snapshot(at, 1.0, _devices(run, 0.0)) for at in (one.begin - before, one.begin)]
    for interval, over in zip(one.intervals, bursts, strict=True):
        snapshots.append(Snapshot(interval.end, run.cpu_pct, _devices(run, over / mean), wait_pct=5.0))
    return nmon_linux.recording(host, interval_s, snapshots)


def _devices(run: LinuxRun, over: float) -> list[Disk]:
    """Return the load of each device: the logical load, and that of the RAID-10 members or paths below it.

    A write to the RAID-10 goes to two of its four members; a path carries a part of the multipath device's load.
    """
    load = run.load
    reads, writes = (mb_s * 1024 * over for mb_s in (load.read_mb_s, load.write_mb_s))
    shares = {
        "nvme": {"md0": (1.0, 1.0)} | {n: (1 / MEMBERS, 2 / MEMBERS) for n in DEVICES if n.startswith("nvme")},
        "fcp": {"dm-0": (1.0, 1.0)} | {n: (1 / PATHS, 1 / PATHS) for n in DEVICES if n.startswith("sd")},
    }[run.storage]
    parts = (shares.get(name, (0.0, 0.0)) for name in DEVICES)
    return [Disk(reads * read, writes * write, load.read_kb, load.write_kb, run.service_ms) for read, write in parts]


def _site(placed: Sequence[Placed[LinuxRun]]) -> Iterator[site.Entry]:
    begin = placed[0].begin
    for one in placed:
        yield "prices", {"from": begin, "name": one.run.name, "amount": one.run.price, "currency": "XXX"}
        yield site.run(one, "ycsb", "operations", {"core": PROCESSORS})
