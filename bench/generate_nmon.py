"""AIX nmon recordings of any size, made of the generated sample: its snapshots repeat, its disks are multiplied.

A disk has the figures of any disk of the sample in any of its snapshots. The same shape gives the same bytes.
"""

from __future__ import annotations

import gzip
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import BinaryIO

from counterflow.simulate.nmon import date

SAMPLE = Path(__file__).parents[1] / "samples/nmon/aix_generated.nmon.gz"
START = datetime(2026, 3, 2, 8, 0, 0)  # noqa: DTZ001 - a recording has local times
"""That of the sample."""
DISKS_PER_LINE = 150


@dataclass(frozen=True)
class Shape:
    """The size and content of a recording."""

    snapshots: int = 1440
    interval: int = 60
    disks: int = 1200
    seed: int = 1
    host: str = "aixgen"


def generate(out: BinaryIO, shape: Shape) -> None:
    """Write the recording of `shape`."""
    recording = Recording(shape)
    for lines in (recording.header(), *map(recording.snapshot, range(1, shape.snapshots + 1))):
        out.write("".join(f"{line}\n" for line in lines).encode())


class Recording:
    """The lines of a recording: its header, and its snapshots from number 1 on, each an interval later."""

    def __init__(self, shape: Shape) -> None:
        self.shape = shape
        self.random = random.Random(shape.seed)
        sample = gzip.decompress(SAMPLE.read_bytes()).decode().partition("BBBP,002")[0]  # what follows is a trailer
        self.head, *snapshots = (part.splitlines() for part in re.split(r"^(?=ZZZZ,)", sample, flags=re.MULTILINE))
        self.first, *self.others = snapshots
        """Only the first has no processes."""
        self.figures: dict[str, list[str]] = {}
        """Figures of disks in all snapshots, by section."""
        for line in (line for lines in snapshots for line in lines if line.startswith("DISK")):
            section, _, *figures = line.split(",")
            self.figures.setdefault(section, []).extend(figures)

    def header(self) -> Iterator[str]:
        """Yield the lines before the first snapshot."""
        disks = [f"hdisk{number}" for number in range(self.shape.disks)]
        own = {"AAA,interval": self.shape.interval, "AAA,snapshots": self.shape.snapshots}
        for line in (line.replace("aixgen01", self.shape.host) for line in self.head):
            section, title, *_ = line.split(",")
            if section in self.figures:
                yield from self._lines(section, title, disks)
            elif line.startswith("BBBB,0000"):
                yield line
                yield from (f"BBBB,{number:04d},{disk},100.00,FC SCSI" for number, disk in enumerate(disks, 1))
            elif section != "BBBB":
                yield f"{section},{title},{own[f'{section},{title}']}" if f"{section},{title}" in own else line

    def snapshot(self, number: int) -> Iterator[str]:
        """Yield the lines of a snapshot."""
        now = START + timedelta(seconds=self.shape.interval * number)
        stamp, *lines = self.first if number == 1 else self.others[(number - 2) % len(self.others)]
        before, tag = stamp.split(",")[1], f"T{number:04d}"
        yield f"ZZZZ,{tag},{now:%H:%M:%S},{date(now)}"
        picks = self.random.choices(range(len(self.figures["DISKBUSY"])), k=self.shape.disks)
        for line in lines:
            section = line.partition(",")[0]
            if section in self.figures:
                yield from self._lines(section, tag, [self.figures[section][pick] for pick in picks])
            elif number == 2 or section != "UARG":  # a process is described once
                yield line.replace(before, tag, 1)

    @staticmethod
    def _lines(section: str, title: str, cells: list[str]) -> Iterator[str]:
        for number, at in enumerate(range(0, len(cells), DISKS_PER_LINE)):
            yield f"{section}{number or ''},{title},{','.join(cells[at : at + DISKS_PER_LINE])}"
