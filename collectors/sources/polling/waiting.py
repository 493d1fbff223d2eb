"""Answers that wait between the reader and the publisher: a few in memory, or a database of them on disk.

The database outlives a long absence of the broker, and the agent: the systems are still queried meanwhile, and their
answers are published later, in order.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import fields, replace
from datetime import date, datetime
from datetime import time as clock_time
from decimal import Decimal
from pathlib import Path
from queue import Empty, Queue
from typing import NamedTuple, Protocol

import structlog

from counterflow.base.errors import CounterflowError
from counterflow.collectors.sources.polling.batch import Batch, Cursor

log = structlog.get_logger()

WAITING_BATCHES = 4
"""Most batches of a system that wait in memory; while they do, it is not queried."""
MANY_ROWS = 2000
"""A batch with more rows waits alone: 15,000 rows of QAPMJOBMI, an interval of a mid-size system, are 50 MB."""
_RETRY_S = 0.5
_SCHEMA = """
PRAGMA auto_vacuum = FULL;
PRAGMA journal_mode = WAL;
PRAGMA synchronous = NORMAL;
CREATE TABLE IF NOT EXISTS batch (number INTEGER PRIMARY KEY AUTOINCREMENT, content BLOB NOT NULL);
"""


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


class _Kept(NamedTuple):
    """A batch in the database: its stream, its number there, and its size in bytes."""

    stream: str
    n: int
    size: int


class Spool:
    """A SQLite database with a row per batch, which belongs to one source of one agent.

    Batches behind the last commit are offered again after a restart; `positions` are where querying continues.

    Parameters
    ----------
    path : of the database; its folder is created for its owner alone.
    most : bytes; when all batches hold as many, nothing is put until some are committed.
    committed : the committed position of each stream.

    Raises
    ------
    CounterflowError : the database cannot be made, read or written.
    """

    def __init__(self, path: Path, most: int, committed: Mapping[str, Cursor]) -> None:
        """Take over what an earlier agent has left."""
        self._path, self._most = path, most
        self._full, self._retry_at = False, 0.0
        self.positions = dict(committed)
        self._kept: dict[int, _Kept] = {}
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._database = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
            self._database.executescript(_SCHEMA)
            self._take_over()
        except (OSError, sqlite3.Error) as error:
            raise CounterflowError(
                f"{path} cannot be used as a spool: {getattr(error, 'strerror', None) or error}",
                hint="set another `spool.path`, give the agent's user write permission, or move a damaged file away",
                exit_code=2,
            ) from None
        self._untaken = list(self._kept)

    def put(self, batch: Batch) -> bool:
        """Write a batch, unless the database or its disk is full."""
        if time.monotonic() < self._retry_at:
            return False
        if (held := sum(kept.size for kept in list(self._kept.values()))) >= self._most:
            return self._report_full(f"it holds {held:,} bytes")
        try:
            content = encode(batch)
        except TypeError as error:
            content = encode(replace(batch, columns=(), rows=(), trouble=str(error)))
        try:
            number = self._database.execute("INSERT INTO batch (content) VALUES (?)", (content,)).lastrowid or 0
        except sqlite3.Error as error:
            return self._report_full(str(error))
        self._full = False
        self._kept[number] = _Kept(batch.stream, batch.position["n"], len(content))
        self._untaken.append(number)
        return True

    def next_batch(self) -> Batch | None:
        """Return the next batch, None where none waits; its row stays until it is committed."""
        return self._read(self._untaken.pop(0)) if self._untaken else None

    def done(self, batch: Batch) -> None:
        """Delete a batch, which is committed; one that stays, as on a read-only disk, the next agent deletes."""
        of = (batch.stream, batch.position["n"])
        for number in [number for number, kept in list(self._kept.items()) if kept[:2] == of]:
            with suppress(sqlite3.Error):
                self._delete(number)
            del self._kept[number]

    def _take_over(self) -> None:
        """Keep the batches behind the committed ones of their streams, each after the one before; delete the others."""
        for number, size in self._database.execute("SELECT number, length(content) FROM batch ORDER BY 1").fetchall():
            batch = self._read(number)
            if batch and batch.position["n"] == int(self.positions.get(batch.stream, {}).get("n", 0)) + 1:
                self._kept[number] = _Kept(batch.stream, batch.position["n"], size)
                self.positions[batch.stream] = batch.position
            else:
                self._delete(number)

    def _delete(self, number: int) -> None:
        self._database.execute("DELETE FROM batch WHERE number = ?", (number,))

    def _report_full(self, why: str) -> bool:
        self._retry_at = time.monotonic() + _RETRY_S
        if not self._full:
            self._full = True
            log.error("the spool takes no batch, no query is sent until it does", spool=str(self._path), why=why)
        return False

    def _read(self, number: int) -> Batch | None:
        try:
            [content] = self._database.execute("SELECT content FROM batch WHERE number = ?", (number,)).fetchone()
            return decode(content)
        except (sqlite3.Error, ValueError) as error:
            log.warning("not readable in the spool, queried again", spool=str(self._path), error=str(error))
            return None


def encode(batch: Batch) -> bytes:
    """Return a batch as JSON: what JSON does not have is written as a text or number that the formats read likewise.

    Raises
    ------
    TypeError : a driver gave a value of a type that no column has.
    """
    content = {field.name: getattr(batch, field.name) for field in fields(Batch)}
    content |= {"rows": [list(row) for row in batch.rows], "body": batch.body.decode("latin-1")}
    return json.dumps(content, default=_plain, separators=(",", ":")).encode()


def decode(content: bytes) -> Batch:
    """Return the batch in `content`.

    Raises
    ------
    ValueError : it is not a batch.
    """
    try:
        found = json.loads(content)
        at = found["sampled_at"]
        found |= {"rows": [tuple(row) for row in found["rows"]], "columns": tuple(found["columns"])}
        found |= {"body": found["body"].encode("latin-1"), "sampled_at": at and datetime.fromisoformat(at)}
        return Batch(**found)
    except (TypeError, KeyError, AttributeError) as error:
        raise ValueError(f"no batch: {error}") from error


def _plain(value: object) -> str | float:
    match value:
        case bytes() | bytearray() | memoryview():
            return bytes(value).hex().upper()
        case Decimal():
            is_whole = value.is_finite() and value == value.to_integral_value()
            return int(value) if is_whole else float(value)
        case date() | clock_time():  # a datetime is a date
            return value.isoformat()
    raise TypeError(f"the spool cannot keep a value of type {type(value).__name__}")
