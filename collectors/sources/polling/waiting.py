"""Answers that wait between the reader and the publisher: a few in memory, or a folder of them.

A folder outlives a long absence of the broker, and the agent: the systems are still queried meanwhile, and their
answers are published later, in order.
"""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from queue import Empty, Queue
from typing import NamedTuple, Protocol
from urllib.parse import quote

import structlog

from counterflow.base.errors import CounterflowError
from counterflow.collectors.sources.files import unicode
from counterflow.collectors.sources.polling.batch import Batch, Cursor
from counterflow.collectors.sources.polling.spooled import decode, encode

log = structlog.get_logger()

WAITING_BATCHES = 4
"""Most batches of a system that wait in memory; while they do, it is not queried."""
_RETRY_S = 0.5
_NEW = " new"
"""The end of the name of a file that is being written; no stream's name ends like it."""
_LONGEST_STREAM = 150
_FILE = re.compile(r"(\d{12,}) (\d+) (\S*)")
MANY_ROWS = 2000
"""A batch with more rows waits alone: 15,000 rows of QAPMJOBMI, an interval of a mid-size system, are 50 MB."""


class Waiting(Protocol):
    """The waiting batches of one system, in order; one thread puts them and another takes them."""

    def put(self, batch: Batch) -> bool:
        """Add a batch; return False where there is no room for it now."""
        ...

    def next_batch(self) -> Batch | None:
        """Return the next batch, None where none waits."""
        ...

    def done(self, batch: Batch) -> None:
        """Release a batch: it is committed."""
        ...


class Few:
    """A few batches in memory: those not committed when the agent ends are queried again."""

    def __init__(self) -> None:
        self._queue: Queue[Batch] = Queue()

    def put(self, batch: Batch) -> bool:
        """Add a batch, unless a few wait."""
        if self._queue.qsize() >= (WAITING_BATCHES if len(batch.rows) <= MANY_ROWS else 1):
            return False
        self._queue.put(batch)
        return True

    def next_batch(self) -> Batch | None:
        try:
            return self._queue.get_nowait()
        except Empty:
            return None

    def done(self, batch: Batch) -> None:
        """Do nothing: a batch that was taken is not kept."""


class _Name(NamedTuple):
    """The name of a file: its place in the order, the number of the batch in its stream, and the stream, `_quoted`."""

    number: int
    n: int
    stream: str

    @classmethod
    def of(cls, path: Path) -> _Name | None:
        """Return the name of a file, None for one that no spool has written."""
        found = _FILE.fullmatch(path.name)
        return cls(int(found[1]), int(found[2]), found[3]) if found else None

    def __str__(self) -> str:
        return f"{self.number:012} {self.n} {self.stream}"


def _quoted(stream: str) -> str:
    """Return the name of a stream as a part of a file name, which is limited: a long one ends with a digest."""
    quoted = quote(stream, safe="", errors="backslashreplace")
    if len(quoted) <= _LONGEST_STREAM:
        return quoted
    digest = hashlib.blake2b(stream.encode("utf-8", "backslashreplace"), digest_size=16).hexdigest()
    return f"{quoted[: _LONGEST_STREAM - len(digest) - 1]}+{digest}"  # no quoted text has a plus


class Spool:
    """A folder with one file per batch, which belongs to one source of one agent.

    Batches behind the last commit are offered again after a restart; `positions` are where querying continues.

    Parameters
    ----------
    folder : created for its owner alone.
    most : bytes; when all files hold as many, nothing is put until some are committed.
    committed : the committed position of each stream.

    Raises
    ------
    CounterflowError : the folder cannot be made, read or written.
    """

    def __init__(self, folder: Path, most: int, committed: Mapping[str, Cursor]) -> None:
        """Take over what an earlier agent has left."""
        self._folder, self._most = folder, most
        self._full, self._retry_at = False, 0.0
        self.positions = dict(committed)
        self._files: dict[_Name, int] = {}
        self._at = 0
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            for torn in folder.glob(f"*{_NEW}"):
                torn.unlink()
            self._take_over(sorted(folder.iterdir()))
        except OSError as error:
            raise CounterflowError(
                f"{folder} cannot be used as a spool: {error.strerror or error}",
                hint="set another `spool.path`, or give the agent's user write permission",
                exit_code=2,
            ) from None
        self._untaken = list(self._files)

    def put(self, batch: Batch) -> bool:
        """Write a batch, unless the folder or its disk is full."""
        if time.monotonic() < self._retry_at:
            return False
        if (held := sum(self._files.copy().values())) >= self._most:
            return self._report_full(f"it holds {held:,} bytes")
        name = _Name(self._at + 1, int(batch.position["n"]), _quoted(batch.stream))
        try:
            content = encode(batch)
        except TypeError as error:
            content = encode(replace(batch, columns=(), rows=(), trouble=str(error)))
        new = self._folder / f"{name}{_NEW}"
        try:
            new.write_bytes(content)
            new.replace(self._folder / str(name))
        except OSError as error:
            _remove(new)
            return self._report_full(error.strerror or str(error))
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
        """Delete the file of a batch: it is committed."""
        for name in [name for name in self._files.copy() if name[1:] == (batch.position["n"], _quoted(batch.stream))]:
            _remove(self._folder / str(name))
            del self._files[name]

    def _take_over(self, paths: Iterable[Path]) -> None:
        """Keep the files of batches behind the committed ones of their streams, and delete the others."""
        numbers = {_quoted(stream): int(position.get("n", 0)) for stream, position in self.positions.items()}
        broken: set[str] = set()
        for path in paths:
            name = _Name.of(path)
            if name is None:
                log.warning("no file of the spool, left alone", file=unicode(str(path)))
                continue
            self._at = name.number
            batch = self._read(path) if name.stream not in broken else None
            at = numbers.get(name.stream, 0)
            if batch and _quoted(batch.stream) == name.stream and name.n == at + 1:
                self._files[name] = path.stat().st_size
                self.positions[batch.stream] = batch.position
                numbers[name.stream] = name.n
                continue
            if name.n > at:  # a batch before it is missing: all behind are queried again
                broken.add(name.stream)
            path.unlink()

    def _report_full(self, why: str) -> bool:
        self._retry_at = time.monotonic() + _RETRY_S
        if not self._full:
            self._full = True
            log.error("the spool takes no batch, no query is sent until it does", folder=str(self._folder), why=why)
        return False

    def _read(self, path: Path) -> Batch | None:
        try:
            return decode(path.read_bytes())
        except (OSError, ValueError) as error:
            log.warning("not readable in the spool, queried again", file=unicode(str(path)), error=str(error))
            return None


def _remove(path: Path) -> None:
    """Delete a file; one that stays, as on a disk that turned read-only, is deleted by the next agent."""
    with suppress(OSError):
        path.unlink()
