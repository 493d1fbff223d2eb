"""QAPMJOBMI and QAPMJOBOS exports into joined tables: a day of 1.4 million rows, beside the nmon parse."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from datetime import UTC
from itertools import chain
from pathlib import Path

from bench.figure import Figure
from bench.generate_collection_services import Shape, generate
from bench.generate_nmon import Shape as NmonShape
from bench.generate_nmon import generate as generate_nmon
from bench.nmon_parse import measure as measure_nmon
from counterflow.collectors.reading import read_each
from counterflow.collectors.records import Record, Table


def parse(path: Path) -> None:
    """Read every item of both files and print CPU seconds, peak memory and rows."""
    before = os.times()
    items = chain.from_iterable(found.items for found in read_each(path, UTC, "BENCH"))
    rows = sum(item.rows for item in items if isinstance(item, Record | Table))
    after = os.times()
    cpu = after.user + after.system - before.user - before.system
    print(cpu, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024, rows)


def measure(paths: tuple[Path, Path]) -> tuple[float, float, int]:
    """Return MB of both files a CPU second, resident MiB and rows of a process that reads them joined."""
    command = [sys.executable, "-m", "bench.ibmi_tables", str(paths[0])]
    cpu, resident, rows = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    size = sum(path.stat().st_size for path in paths)
    return size / 1e6 / float(cpu), float(resident) / 2**20, int(rows)


def main(intervals: int = 96) -> None:
    """Print the figures."""
    with tempfile.TemporaryDirectory() as name:
        shape = Shape(intervals=intervals)
        paths = generate(Path(name), shape)
        nmon = Path(name, "whole.nmon")
        with nmon.open("wb") as out:
            generate_nmon(out, NmonShape(snapshots=360))
        rate, resident, rows = measure(paths)
        rate_of_nmon, _ = measure_nmon(nmon)
        size = sum(path.stat().st_size for path in paths) / 1e6
    method = (
        f"generated QAPMJOBMI of {shape.intervals * shape.rows:,} rows in {shape.intervals} intervals, with QAPMJOBOS, "
        f"{size:.0f} MB, joined into {rows:,} rows, those of `counter` among them, as tables; CPU seconds of one "
        "process, user and system, start-up not included"
    )
    Figure(
        "Collection Services parse",
        round(rate, 1),
        "MB a core-second",
        ">= 15",
        method,
        peer="nmon parse on a recording of a quarter of the size, in the same run",
        peer_value=round(rate_of_nmon, 1),
    ).emit()
    Figure(
        "Collection Services parse, memory",
        round(resident, 1),
        "MiB resident",
        "<= 300",
        f"peak of the same process; {method}",
    ).emit()


if __name__ == "__main__":
    if len(sys.argv) > 1 and not sys.argv[1].isdigit():
        parse(Path(sys.argv[1]))
    else:
        main(*(int(arg) for arg in sys.argv[1:]))
