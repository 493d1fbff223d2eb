"""Inputs that fill the memory of a careless parser: `python -m tests.fuzz.hostile MIB [FORMAT]...`

They are generated as they are read. Each begins like a real input of its format, to get as far as it can.
"""

from __future__ import annotations

import io
import itertools
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from zoneinfo import ZoneInfo

from counterflow.collectors.formats import formats
from counterflow.collectors.records import Context, Reject
from tests.fuzz.contract import seeds

MIB = 2**20
MOST_MEMORY = 350 * MIB
"""Resident memory of the whole process: the longest accepted JSON document has 64 MiB, and is held three times."""


class Made(io.RawIOBase):
    """A stream of pieces that are generated when they are read, and again after a seek; none is kept."""

    def __init__(self, make: Callable[[], Iterator[bytes]]) -> None:
        self._make = make
        self.seek(0)

    def read(self, size: int = -1, /) -> bytes:
        while not self._rest and (piece := next(self._pieces, None)) is not None:
            self._rest = piece
        size = len(self._rest) if size < 0 else size
        out, self._rest = self._rest[:size], self._rest[size:]
        return out

    def seek(self, offset: int, whence: int = 0, /) -> int:
        assert whence == 0, "its end is unknown"
        self._pieces, self._rest = self._make(), b""
        left = offset
        while left and (piece := self.read(left)):
            left -= len(piece)
        return offset - left

    def seekable(self) -> bool:
        return True

    def readable(self) -> bool:
        return True


def repeated(piece: bytes, size: int) -> Iterator[bytes]:
    block = piece * max(1, 65_536 // len(piece))
    return itertools.repeat(block, size // len(block) + 1)


def long_line(head: bytes, size: int) -> Iterator[bytes]:
    """Yield one line of the whole size, then the real input again."""
    yield head
    yield from repeated(b"1,", size)
    yield b"\n" + head


def columns(head: bytes, size: int) -> Iterator[bytes]:
    """Yield a million columns in a header and in a row below it."""
    yield head
    for piece in (b"c%d", b"%d"):
        yield from _joined(max((b",", b";", b"|"), key=head.count), piece)
        yield b"\n"


@cache
def _joined(separator: bytes, piece: bytes) -> list[bytes]:
    return [separator.join(piece % m for m in range(n, n + 1000)) + separator for n in range(0, 1_000_000, 1000)]


def deep(head: bytes, size: int) -> Iterator[bytes]:
    """Yield JSON that opens and never closes."""
    yield head
    yield from repeated(b'{"a":[', size // 16)


def long_text(head: bytes, size: int) -> Iterator[bytes]:
    """Yield a string in JSON that never ends."""
    yield head + b'{"a":"'
    yield from repeated(b"a", size // 4)


def nothing(head: bytes, size: int) -> Iterator[bytes]:
    """Yield zeros, as the hole in a sparse file reads."""
    yield head
    yield from repeated(b"\0", size // 4)


def lines(head: bytes, size: int) -> Iterator[bytes]:
    """Yield empty lines."""
    yield head
    yield from repeated(b"\n", size // 4096)


HOSTILE = (long_line, columns, deep, long_text, nothing, lines)


def peak_bytes() -> int:
    """Return the peak resident memory of this process; getrusage() also counts memory from before its exec."""
    found = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
    return int(found[1]) * 1024 if found else 0


def read(name: str, size: int) -> bool:
    """Read every hostile input as one format and print a line each; return whether all took little memory."""
    head = max(seeds(name).values(), key=len)
    good = True
    for make in HOSTILE:
        began = time.process_time()
        context = Context("input", ZoneInfo("UTC"), "SYS1")
        out: Counter[str] = Counter()
        for item in formats()[name].parse(Made(partial(make, head, size)), context):  # type: ignore[arg-type]
            out[item.reason if isinstance(item, Reject) else type(item).__name__] += 1
        took = time.process_time() - began
        most = peak_bytes()
        good = good and most <= MOST_MEMORY
        counts = ", ".join(f"{what} {n}" for what, n in out.most_common(4))
        print(f"{name} {make.__name__}: {took:.1f} CPU s, peak {most / MIB:.0f} MiB, {counts}", flush=True)
    return good


if __name__ == "__main__":
    wanted = sys.argv[2:] or sorted(formats())
    sys.exit(sum(not read(name, int(sys.argv[1]) * MIB) for name in wanted))
