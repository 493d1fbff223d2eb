"""Answers that wait between the reader and the publisher, in a database: on disk, or in memory.

On disk it outlives a long absence of the broker, and the agent: the systems are still queried meanwhile, and their
answers are published later, in order.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import fields, replace
from datetime import date, datetime
from datetime import time as clock_time
from decimal import Decimal
from pathlib import Path
from threading import Lock
from typing import NamedTuple

import structlog

from counterflow.base.errors import CounterflowError
from counterflow.collectors.sources.files import unicode
from counterflow.collectors.sources.polling.batch import Batch, Cursor

log = structlog.get_logger()

IN_MEMORY_BYTES = 16 << 20
"""Bytes that wait in memory, at most, but for the last batch: an interval of a large QAPMJOBMI has as many."""
_RETRY_S = 0.5
_SCHEMA = """
PRAGMA auto_vacuum = FULL;
PRAGMA journal_mode = WAL;
PRAGMA synchronous = NORMAL;
CREATE TABLE IF NOT EXISTS batch (number INTEGER PRIMARY KEY AUTOINCREMENT, content BLOB NOT NULL, body BLOB NOT NULL);
"""


class _Kept(NamedTuple):
    """A batch in the database: its row and its size in bytes."""

    number: int
    size: int


class Spool:
    """A SQLite database with a row per batch, which belongs to one source of one agent.

    One thread puts batches, another takes them in the same order. A batch stays until it is `done`. With a path, those
    behind the last commit are offered again after a restart; `positions` are where querying continues.

    Parameters
    ----------
    path : of the database, whose folder is created for its owner alone; None for memory.
    most : bytes; when the batches that are not taken hold as many, nothing is put until some are.
    committed : the committed position of each stream.

    Raises
    ------
    CounterflowError : the database cannot be made, read or written.
    """

    def __init__(self, path: Path | None, most: int, committed: Mapping[str, Cursor]) -> None:
        """Take over what an earlier agent has left."""
        self._name, self._most = str(path or ":memory:"), most
        self._is_on_disk = path is not None
        self._full, self._retry_at = False, 0.0
        self.positions = dict(committed)
        self._kept: dict[tuple[str, int], _Kept] = {}
        self._lock = Lock()
        try:
            if path is not None:
                path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._database = sqlite3.connect(self._name, isolation_level=None, check_same_thread=False)
            self._database.executescript(_SCHEMA)
            self._take_over()
        except (OSError, sqlite3.Error) as error:
            raise CounterflowError(
                f"{path} cannot be used as a spool: {getattr(error, 'strerror', None) or error}",
                hint="set another `spool.path`, give the agent's user write permission, or move a damaged file away",
                exit_code=2,
            ) from None
        self._offer_all()

    def put(self, batch: Batch) -> bool:
        """Add a batch, unless all hold the most, or the disk is full."""
        if time.monotonic() < self._retry_at:
            return False
        if self._waiting >= self._most:
            return self._report_full(f"it holds {self._waiting:,} bytes")
        try:
            content = encode(batch)
        except TypeError as error:
            content = encode(replace(batch, columns=(), rows=(), trouble=str(error)))
        row, size = (content, batch.body), len(content) + len(batch.body)
        try:
            number = self._database.execute("INSERT INTO batch (content, body) VALUES (?, ?)", row).lastrowid or 0
        except sqlite3.Error as error:
            self._retry_at = time.monotonic() + _RETRY_S
            return self._report_full(str(error))
        self._full = False
        with self._lock:
            self._kept[_key(batch)] = kept = _Kept(number, size)
            self._untaken.append(kept)
            self._waiting += size
        return True

    def next_batch(self) -> Batch | None:
        """Return the next batch, None where none waits."""
        with self._lock:
            if not self._untaken:
                return None
            number, size = self._untaken.popleft()
            self._waiting -= size
        return self._read(number)

    def done(self, batch: Batch) -> None:
        """Delete a batch, which is committed; one that stays, as on a read-only disk, the next agent deletes."""
        with self._lock:
            kept = self._kept.pop(_key(batch), None)
        if kept is not None:
            with suppress(sqlite3.Error):
                self._delete(kept.number)

    def take_back(self, committed: Mapping[str, int]) -> None:
        """Offer again whatever is behind the committed number of its stream."""
        with self._lock:
            for key in [key for key in self._kept if key[1] <= committed.get(key[0], 0)]:
                with suppress(sqlite3.Error):
                    self._delete(self._kept.pop(key).number)
            self._offer_all()

    def _offer_all(self) -> None:
        self._untaken = deque(self._kept.values())
        self._waiting = sum(kept.size for kept in self._untaken)

    def _take_over(self) -> None:
        """Keep the batches behind the committed ones of their streams, each after the one before; delete the others."""
        lengths = "SELECT number, length(content) + length(body) FROM batch ORDER BY number"
        numbers = {stream: int(position.get("n", 0)) for stream, position in self.positions.items()}
        for number, size in self._database.execute(lengths).fetchall():
            batch = self._read(number)
            if batch and batch.position["n"] == numbers.get(unicode(batch.stream), 0) + 1:
                self._kept[_key(batch)] = _Kept(number, size)
                self.positions[unicode(batch.stream)] = batch.position
                numbers[unicode(batch.stream)] = batch.position["n"]
            else:
                self._delete(number)

    def _delete(self, number: int) -> None:
        self._database.execute("DELETE FROM batch WHERE number = ?", (number,))

    def _report_full(self, why: str) -> bool:
        if not self._full and self._is_on_disk:
            log.error("the spool takes no batch, no query is sent until it does", spool=self._name, why=why)
        self._full = True
        return False

    def _read(self, number: int) -> Batch | None:
        try:
            row = self._database.execute("SELECT content, body FROM batch WHERE number = ?", (number,)).fetchone()
            return decode(*row)
        except (sqlite3.Error, ValueError) as error:
            log.warning("not readable in the spool, queried again", spool=self._name, error=str(error))
            return None


def _key(batch: Batch) -> tuple[str, int]:
    """Return the stream of a batch, as it is committed, and its number there."""
    return unicode(batch.stream), int(batch.position["n"])


def encode(batch: Batch) -> bytes:
    """Return a batch as JSON, but for its body: what JSON does not have is a text or number that formats read likewise.

    Raises
    ------
    TypeError : a driver gave a value of a type that no column has.
    """
    content = {field.name: getattr(batch, field.name) for field in fields(Batch) if field.name != "body"}
    content |= {"rows": [list(row) for row in batch.rows]}
    return json.dumps(content, default=_plain, separators=(",", ":")).encode()


def decode(content: bytes, body: bytes = b"") -> Batch:
    """Return the batch in `content`, with its body.

    Raises
    ------
    ValueError : it is not a batch.
    """
    try:
        found = json.loads(content)
        at = found["sampled_at"]
        found |= {"rows": [tuple(row) for row in found["rows"]], "columns": tuple(found["columns"])}
        found |= {"sampled_at": at and datetime.fromisoformat(at)}
        return Batch(**found, body=body)
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
