"""Recordings to records and to encoded frames: nmon of AIX, and job counters of IBM i; how long a record is there."""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from bench import generate_collection_services as jobs
from bench.figure import Figure
from bench.generate_nmon import Shape, generate
from bench.records import framed, records
from counterflow.collectors.reading import read_each
from counterflow.collectors.records import Item, Record, singly

SNAPSHOTS = 1_440
RECORDS, DISKS = 100_000, 1_200
UNIT = "MB a core-second"
_TAGS = ("system", "source", "boot_id", "disk", "device_type")


class Parsed(NamedTuple):
    """MB a CPU second, and peak of resident MiB, of a process that parses files."""

    rate: float
    resident_mib: float


def parse(path: Path, to: str) -> None:
    """Parse a file, and what belongs to it, into tables, records or frames; print CPU seconds and peak memory."""
    begin = time.process_time()
    items: Iterator[Item] = (item for found in read_each(path, UTC, "BENCH") for item in found.items)
    for _ in framed(items) if to == "frames" else singly(items) if to == "records" else items:
        pass
    print(time.process_time() - begin, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


def measure(to: str, *paths: Path) -> Parsed:
    """Parse in a process of its own; `paths` are the file and those that are read with it."""
    command = [sys.executable, "-m", "bench.parse", str(paths[0]), to]
    cpu, resident = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    return Parsed(sum(path.stat().st_size for path in paths) / 1e6 / float(cpu), float(resident))


def main() -> None:
    """Print the figures."""
    one = "CPU seconds of one process, start-up not included"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        recording, shape = folder / "aix.nmon", jobs.Shape()
        with recording.open("wb") as out:
            generate(out, Shape(snapshots=SNAPSHOTS))
        mb = recording.stat().st_size / 1e6
        method = f"generated AIX recording of {mb:.0f} MB, {SNAPSHOTS:,} snapshots, 1,200 disks, 8 processors; {one}"
        emit("nmon parse to encoded frames", measure("frames", recording), 80, None, f"{method}; checked and numbered")
        emit("nmon parse", measure("records", recording), 25, 200, f"{method}; every record made")
        exports = jobs.generate(folder, shape)
        mb = sum(path.stat().st_size for path in exports) / 1e6
        method = f"generated QAPMJOBMI of {shape.intervals * shape.rows:,} rows in {shape.intervals} intervals, with "
        method += f"QAPMJOBOS, {mb:.0f} MB, joined into tables; {one}"
        emit("Collection Services parse", measure("tables", *exports), 15, 300, method)
    size()


def emit(measure: str, parsed: Parsed, rate: int, resident_mib: int | None, method: str) -> None:
    """Print the rate and, where it has a limit, the memory of a process that parsed."""
    Figure(measure, round(parsed.rate, 1), UNIT, f">= {rate}", method).emit()
    if resident_mib is not None:
        resident = round(parsed.resident_mib, 1)
        method = f"peak of the same process; {method}"
        Figure(f"{measure}, memory", resident, "MiB resident", f"<= {resident_mib}", method).emit()


def size() -> None:
    """Print how long a record is on its way to Kafka: in our frames, beside Influx line protocol."""
    made = list(records(1, DISKS, RECORDS // DISKS))
    ours = round(sum(len(message.value) for message in framed(made)) / len(made))
    other = round(sum(map(len, map(_line, made))) / len(made))
    method = (
        f"Mean of {len(made):,} disk records, of {DISKS:,} disks an instant, as JSON in their frames, beside the same "
        "fields as Influx line protocol, as Telegraf sends them; neither is compressed."
    )
    Figure("a record in its frame", ours, "bytes", f"<= {other}", method, "line protocol", other).emit()


def _line(record: Record) -> bytes:
    tags = ",".join(f"{name}={record.fields[name]}" for name in _TAGS)
    values = ",".join(f"{name}={value}" for name, value in record.fields.items() if name not in _TAGS and name != "ts")
    at = int(datetime.fromisoformat(record.fields["ts"]).timestamp() * 1e9)
    return f"disk,{tags} {values} {at}".encode()


if __name__ == "__main__":
    if len(sys.argv) > 1:
        parse(Path(sys.argv[1]), sys.argv[2])
    else:
        main()
