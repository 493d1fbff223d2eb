"""Answers between the reader that has them and the publisher who commits them: a few in memory, or a folder of them.

A folder outlives a broker that is away for long, and the agent: the systems are asked on meanwhile, and what they said
is published later, in order.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from queue import Empty, Queue
from typing import NamedTuple, Protocol
from urllib.parse import quote, unquote

import structlog

from counterflow.collectors.sources.polling.batch import Batch, Cursor
from counterflow.collectors.sources.polling.spooled import decode, encode

log = structlog.get_logger()

WAITING_BATCHES = 4
"""So many batches of a system wait in memory; nothing more is asked for before."""
_RETRY_S = 0.5
MANY_ROWS = 2000
"""A batch with more rows waits alone: 15,000 rows of QAPMJOBMI, an interval of a mid-size system, are 50 MB."""


class Waiting(Protocol):
    """What waits of one system, in order; put by one thread and taken by another."""

    def put(self, batch: Batch) -> bool:
        """Take a batch in; False where there is no room for it now."""
        ...

    def next_batch(self) -> Batch | None:
        """Return the next batch, None where none waits."""
        ...

    def done(self, batch: Batch) -> None:
        """Let go of a batch: it is committed."""
        ...


class Few:
    """A few, in memory: what is not committed when the agent ends is asked again."""

    def __init__(self) -> None:
        """Begin with none."""
        self._queue: Queue[Batch] = Queue()

    def put(self, batch: Batch) -> bool:
        """Take a batch in, unless a few wait."""
        if self._queue.qsize() >= (WAITING_BATCHES if len(batch.rows) <= MANY_ROWS else 1):
            return False
        self._queue.put(batch)
        return True

    def next_batch(self) -> Batch | None:
        """Return the next batch, None where none waits."""
        try:
            return self._queue.get_nowait()
        except Empty:
            return None

    def done(self, batch: Batch) -> None:
        """Nothing is kept of what was taken."""


class _Name(NamedTuple):
    """The name of a file: its place in the order, which batch of which stream it is."""

    number: int
    n: int
    stream: str

    @classmethod
    def of(cls, path: Path) -> _Name:
        number, n, stream = path.name.split(" ", 2)
        return cls(int(number), int(n), unquote(stream))

    def __str__(self) -> str:
        return f"{self.number:012} {self.n} {quote(self.stream, safe='')}"


class Spool:
    """A folder with a file a batch, which belongs to one source of one agent.

    What was put behind the last commit is offered again after a restart, and `positions` say where to go on under_way.

    Parameters
    ----------
    folder : made, the owner's alone.
    most : bytes; when all files hold as many nothing is put until some are committed.
    committed : position of each stream that is committed.
    """

    def __init__(self, folder: Path, most: int, committed: Mapping[str, Cursor]) -> None:
        """Look what an earlier agent has left."""
        self._folder, self._most = folder, most
        self._full, self._retry_at = False, 0.0
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for torn in folder.glob("*.new"):
            torn.unlink()
        self.positions = dict(committed)
        self._files: dict[_Name, int] = {}
        self._at = 0
        broken: set[str] = set()
        for path in sorted(folder.iterdir()):
            name = _Name.of(path)
            self._at = name.number
            batch = self._read(path) if name.stream not in broken else None
            at = int(self.positions.get(name.stream, {}).get("n", 0))
            if batch and name.n == at + 1:
                self._files[name] = path.stat().st_size
                self.positions[name.stream] = batch.position
                continue
            if name.n > at:  # what comes before it is not there: all behind is asked again
                broken.add(name.stream)
            path.unlink()
        self._untaken = list(self._files)

    def put(self, batch: Batch) -> bool:
        """Write a batch, unless the folder or its disk is full."""
        if time.monotonic() < self._retry_at:
            return False
        if (held := sum(self._files.copy().values())) >= self._most:
            return self._say_full(f"it holds {held:,} bytes")
        name = _Name(self._at + 1, int(batch.position["n"]), batch.stream)
        try:
            content = encode(batch)
        except TypeError as error:
            content = encode(replace(batch, columns=(), rows=(), trouble=str(error)))
        new = self._folder / f"{name}.new"
        try:
            new.write_bytes(content)
            new.replace(self._folder / str(name))
        except OSError as error:
            new.unlink(missing_ok=True)
            return self._say_full(error.strerror or str(error))
        self._at, self._full = name.number, False
        self._files[name] = len(content)
        self._untaken.append(name)
        return True

    def next_batch(self) -> Batch | None:
        """Return the next batch, None where none waits; its file stays until it is committed."""
        if not self._untaken:
            return None
        return self._read(self._folder / str(self._untaken.pop(0)))

    def done(self, batch: Batch) -> None:
        """Delete a batch: it is committed."""
        for name in [name for name in self._files.copy() if name[1:] == (batch.position["n"], batch.stream)]:
            (self._folder / str(name)).unlink(missing_ok=True)
            del self._files[name]

    def _say_full(self, why: str) -> bool:
        self._retry_at = time.monotonic() + _RETRY_S
        if not self._full:
            self._full = True
            log.error("the spool takes no more, nothing is asked until it does", folder=str(self._folder), why=why)
        return False

    def _read(self, path: Path) -> Batch | None:
        try:
            return decode(path.read_bytes())
        except (OSError, ValueError) as error:
            log.warning("not readable in the spool, asked again", file=os.fsdecode(path), error=str(error))
            return None
