"""Recordings to records and to encoded frames: nmon of AIX, beside pyNmonAnalyzer, and job counters of IBM i."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from datetime import UTC
from pathlib import Path
from typing import NamedTuple

from bench.encode import framed
from bench.figure import Figure
from bench.generate_collection_services import Shape as JobsShape
from bench.generate_collection_services import generate as generate_jobs
from bench.generate_nmon import Shape, generate
from counterflow.collectors.reading import read_each
from counterflow.collectors.records import Item, singly

SNAPSHOTS, INTERVALS = 1440, 96
PEER = ["uvx", "--from", "pyNmonAnalyzer==1.0.9", "--with", "numpy<2", "--with", "matplotlib", "pyNmonAnalyzer"]
PEER_SECONDS = 120


class Parsed(NamedTuple):
    """MB a CPU second, and peak of resident MiB, of a process that parses files."""

    rate: float
    resident_mib: float


def parse(path: Path, to: str) -> None:
    """Parse a file, and what belongs to it, into tables, records or frames; print CPU seconds and peak memory."""
    before = os.times()
    items: Iterator[Item] = (item for found in read_each(path, UTC, "BENCH") for item in found.items)
    for _ in framed(items) if to == "frames" else singly(items) if to == "records" else items:
        pass
    after = os.times()
    print(
        after.user + after.system - before.user - before.system,
        resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    )


def measure(to: str, *paths: Path) -> Parsed:
    """Parse in a process of its own; `paths` are the file and those that are read with it."""
    command = [sys.executable, "-m", "bench.parse", str(paths[0]), to]
    cpu, resident = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    return Parsed(sum(path.stat().st_size for path in paths) / 1e6 / float(cpu), float(resident))


def peer(path: Path, folder: Path) -> float | None:
    """Return MB a CPU second of pyNmonAnalyzer writing its CSV files, or None where it is not available.

    Its exit status is ignored: it is 1 even after success.
    """
    if shutil.which(PEER[0]) is None:
        return None
    subprocess.run([*PEER, "-h"], capture_output=True, timeout=300, check=False)  # fetched before it is timed
    before = os.times()
    try:
        subprocess.run(
            [*PEER, "-c", "-i", str(path), "-o", str(folder)], capture_output=True, timeout=PEER_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return None
    after = os.times()
    if not any(folder.rglob("*.csv")):
        return None
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return path.stat().st_size / 1e6 / cpu


def main() -> None:
    """Print the figures."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        whole, tenth = folder / "whole.nmon", folder / "tenth.nmon"
        for path, snapshots in ((whole, SNAPSHOTS), (tenth, SNAPSHOTS // 10)):
            with path.open("wb") as out:
                generate(out, Shape(snapshots=snapshots))
        records, frames, of_tenth = measure("records", whole), measure("frames", whole), measure("records", tenth)
        of_peer = peer(tenth, folder / "csv")
        mb = whole.stat().st_size / 1e6
        shape = JobsShape(INTERVALS)
        exports = generate_jobs(folder, shape)
        jobs = measure("tables", *exports)
        jobs_mb = sum(path.stat().st_size for path in exports) / 1e6
    one = "CPU seconds of one process, user and system, start-up not included"
    recording = f"generated AIX recording of {mb:.0f} MB, {SNAPSHOTS:,} snapshots, 1,200 disks, 28 processors; {one}"
    unit = "MB a core-second"
    method = (
        f"{recording}: from bytes to checked, numbered and encoded frames; peak {frames.resident_mib:.0f} MiB resident"
    )
    Figure("nmon parse to encoded frames", round(frames.rate, 1), unit, ">= 80", method).emit()
    method = f"{recording}; every record made"
    peer_text = (
        "pyNmonAnalyzer 1.0.9 writing CSV, on a tenth of the snapshots (where ours is "
        f"{of_tenth.rate:.1f}): CPU seconds of the whole process"
    )
    other = of_peer and round(of_peer, 1)
    Figure("nmon parse", round(records.rate, 1), unit, ">= 25", method, peer_text, other).emit()
    resident = round(records.resident_mib, 1)
    method = f"peak of the same process; {method}"
    Figure("nmon parse, memory", resident, "MiB resident", "<= 200", method).emit()
    method = (
        f"generated QAPMJOBMI of {shape.intervals * shape.rows:,} rows in {shape.intervals} intervals, with QAPMJOBOS, "
        f"{jobs_mb:.0f} MB, joined into tables; {one}"
    )
    Figure("Collection Services parse", round(jobs.rate, 1), unit, ">= 15", method).emit()
    method = f"peak of the same process; {method}"
    resident = round(jobs.resident_mib, 1)
    Figure("Collection Services parse, memory", resident, "MiB resident", "<= 300", method).emit()


if __name__ == "__main__":
    if len(sys.argv) > 1:
        parse(Path(sys.argv[1]), sys.argv[2])
    else:
        main()
