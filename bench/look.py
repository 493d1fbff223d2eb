"""Look: from files to their report with nothing running."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from bench.figure import Figure
from bench.generate_nmon import Shape, generate
from bench.stack import usual_environment

HOSTS, SNAPSHOTS = 1_000, 480
"""The number of recordings, and the length of the large one."""


class Taken(NamedTuple):
    """The cost of a look: wall seconds, CPU seconds, and the size of its largest process, MiB."""

    wall_s: float
    cpu_s: float
    resident_mib: float


def look(*arguments: object) -> Taken:
    """Run the command in a process of its own."""
    before, began = os.times(), time.monotonic()
    command = [sys.executable, "-m", "counterflow", "look", *map(str, arguments)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=usual_environment())
    after = os.times()
    cpu_s = after.children_user + after.children_system - before.children_user - before.children_system
    return Taken(time.monotonic() - began, cpu_s, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024)


def main() -> None:
    """Generate the recordings and print the figures."""
    with tempfile.TemporaryDirectory(prefix="bench-look-") as name:
        folder = Path(name)
        small, large, hosts = folder / "small.nmon", folder / "large.nmon", folder / "hosts"
        with small.open("wb") as out:
            generate(out, Shape(snapshots=37, disks=24))
        first = look(small)
        method = f"`counterflow look` of a recording of {small.stat().st_size / 1e3:.0f} KB until its findings, wall."
        Figure("look, first findings", round(first.wall_s, 1), "s", "<= 2", method).emit()
        with large.open("wb") as out:
            generate(out, Shape(snapshots=SNAPSHOTS))
        taken, size = look(large, "--out", folder / "report"), large.stat().st_size / 1e6
        method = (
            f"`counterflow look --out` of one generated AIX recording of {size:.0f} MB with 1,200 disks: engine, every "
            f"result, findings and the report, wall on {os.cpu_count()} cores; {taken.cpu_s:.1f} CPU s."
        )
        Figure("look at a large recording", round(taken.wall_s, 1), "s", "<= 12", method).emit()
        method = "The same, its largest process."
        Figure("look, resident", round(taken.resident_mib), "MiB", "<= 1024", method).emit()
        hosts.mkdir()
        text = small.read_text()
        for number in range(HOSTS):
            (hosts / f"{number:04}.nmon").write_text(text.replace("AAA,host,aixgen", f"AAA,host,host{number:04}"))
        many = look(hosts, "--out", folder / "fleet")
        method = (
            f"`counterflow look --out` of {HOSTS:,} generated recordings of {small.stat().st_size / 1e3:.0f} KB each, "
            f"wall on {os.cpu_count()} cores; {many.cpu_s:.0f} CPU s."
        )
        Figure("look at a thousand recordings", round(many.wall_s), "s", "<= 60", method).emit()


if __name__ == "__main__":
    main()
