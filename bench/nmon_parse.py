"""nmon parse: from a large AIX recording to records, and to encoded frames, beside pyNmonAnalyzer."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
import tempfile
from datetime import UTC
from pathlib import Path

from bench.figure import Figure
from bench.framed import framed
from bench.generate_nmon import Shape, generate
from counterflow.collectors.formats.nmon import FORMAT
from counterflow.collectors.records import Context, singly

PEER = ["uvx", "--from", "pyNmonAnalyzer==1.0.9", "--with", "numpy<2", "--with", "matplotlib", "pyNmonAnalyzer"]
PEER_SECONDS = 120


def parse(path: Path, to: str) -> None:
    """Parse the recording into records or frames, and print CPU seconds and peak memory."""
    before = os.times()
    with path.open("rb") as stream:
        items = FORMAT.parse(stream, Context(str(path), UTC))
        for _ in framed(items) if to == "frames" else singly(items):
            pass
    after = os.times()
    cpu = after.user + after.system - before.user - before.system
    print(cpu, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)


def measure(path: Path, to: str = "records") -> tuple[float, float]:
    """Return MB a CPU second and resident MiB of a process that parses `path` into `records` or encoded `frames`."""
    command = [sys.executable, "-m", "bench.nmon_parse", str(path), to]
    cpu, resident = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    return path.stat().st_size / 1e6 / float(cpu), float(resident) / 2**20


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
        whole, tenth = Path(name, "whole.nmon"), Path(name, "tenth.nmon")
        for path, snapshots in ((whole, 1440), (tenth, 144)):
            with path.open("wb") as out:
                generate(out, Shape(snapshots=snapshots))
        rate, resident = measure(whole)
        rate_to_frames, resident_to_frames = measure(whole, "frames")
        rate_of_tenth, _ = measure(tenth)
        rate_of_peer = peer(tenth, Path(name, "csv"))
        size = whole.stat().st_size / 1e6
    recording = (
        f"generated AIX recording of {size:.0f} MB, 1,440 snapshots, 1,200 disks, 28 processors; CPU seconds of one "
        "process, user and system, start-up not included"
    )
    Figure(
        "nmon parse to encoded frames",
        round(rate_to_frames, 1),
        "MB a core-second",
        ">= 80",
        f"{recording}: from bytes to checked, numbered and encoded frames; peak {resident_to_frames:.0f} MiB resident",
    ).emit()
    method = f"{recording}; every record made"
    Figure(
        "nmon parse",
        round(rate, 1),
        "MB a core-second",
        ">= 25",
        method,
        peer="pyNmonAnalyzer 1.0.9 writing CSV, on a tenth of the snapshots (where ours is "
        f"{rate_of_tenth:.1f}): CPU seconds of the whole process",
        peer_value=None if rate_of_peer is None else round(rate_of_peer, 1),
    ).emit()
    Figure(
        "nmon parse, memory", round(resident, 1), "MiB resident", "<= 200", f"peak of the same process; {method}"
    ).emit()


if __name__ == "__main__":
    if len(sys.argv) > 1:
        parse(Path(sys.argv[1]), sys.argv[2])
    else:
        main()
