"""An answer of a system: rows of one table or a document, and the position that they reach."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Protocol, TypeVar

from counterflow.collectors.sources.polling.session import ErrorKind, Session, SessionError

ABSENT_S = 3600.0
"""Time after which a missing view is queried again."""

Cursor = dict[str, Any]
"""JSON values; `n` counts the batches of a stream, `trouble` is its last reported error."""


@dataclass(slots=True)
class Batch:
    """Rows of one table, a document (`body`), or why there are none (`trouble`), or only a position.

    `stream` names the query within its source, `position` is to be committed with the rows. `origin` names system and
    query for people, `table` is the table or report that was queried. `sampled_at` is the UTC time of rows that carry
    none, `seconds` how long the system took. `named` maps columns of datasets to the columns of these rows that were
    found to fill them. Streams that share a `group` are read with one state: one of their tables explains the others.
    """

    stream: str
    table: str
    origin: str
    group: str
    position: Cursor
    columns: tuple[str, ...] = ()
    rows: Sequence[Sequence[object]] = ()
    sampled_at: datetime | None = None
    seconds: float = 0.0
    trouble: str | None = None
    named: dict[str, str] = field(default_factory=dict)
    body: bytes = b""

    @property
    def is_answer(self) -> bool:
        return bool(self.columns or self.body)


_Polled = TypeVar("_Polled", bound=Session, contravariant=True)


class Task(Protocol[_Polled]):
    """A query that is repeated on one system."""

    @property
    def interval_s(self) -> float:
        """Readings are due at the multiples of this."""
        ...

    def read(self, session: _Polled) -> Iterator[Batch]:
        """Query, and yield what is new.

        Raises
        ------
        SessionError : LOST or REFUSED; a batch carries any other.
        """
        ...


class Stream:
    """One query's place in its own history."""

    def __init__(self, name: str, table: str, origin: str, committed: Cursor | None, group: str = "") -> None:
        """Go on behind `committed`."""
        self.name, self.table, self.origin, self.group = name, table, origin, group or name
        self.position: Cursor = dict(committed or {"n": 0})
        self._absent_until = 0.0

    @property
    def is_absent(self) -> bool:
        return time.monotonic() < self._absent_until

    def reached(self, began: float, columns: tuple[str, ...] = (), rows: Sequence[Any] = (), **reached: Any) -> Batch:
        """Return the batch of rows queried at `began` (monotonic clock); `reached` changes the position."""
        self._absent_until = 0.0
        self.position = {k: v for k, v in self.position.items() if k != "trouble"} | reached
        return self._batch(columns, rows, datetime.now(UTC), time.monotonic() - began)

    def troubled(self, error: SessionError) -> Iterator[Batch]:
        """Yield a batch with the error, unless it was the last one reported.

        Raises
        ------
        SessionError : the connection is gone, which is not this query's trouble.
        """
        if error.kind in (ErrorKind.LOST, ErrorKind.REFUSED):
            raise error
        if error.kind is ErrorKind.ABSENT:
            self._absent_until = time.monotonic() + ABSENT_S
        if str(error) != self.position.get("trouble"):
            self.position = {**self.position, "trouble": str(error)}
            batch = self._batch((), (), None, 0.0)
            batch.trouble = str(error)
            yield batch

    def _batch(self, columns: tuple[str, ...], rows: Sequence[Any], at: datetime | None, seconds: float) -> Batch:
        self.position = {**self.position, "n": self.position["n"] + 1}
        return Batch(self.name, self.table, self.origin, self.group, self.position, columns, rows, at, seconds)
