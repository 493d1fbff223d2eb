"""The open transaction: records sent since the last commit, with the checkpoints that cover them."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from typing import NamedTuple

import structlog

from counterflow.collectors.agent.checkpoint import (
    AnyCheckpoint,
    Checkpoint,
    Committed,
    StreamCheckpoint,
    StreamId,
)
from counterflow.collectors.agent.config import Commit, Source, System
from counterflow.collectors.agent.envelope import Origin, invalid, refused
from counterflow.collectors.agent.frames import Broken, Framed, Frames
from counterflow.collectors.agent.metrics import Metrics
from counterflow.collectors.agent.publisher import Publisher
from counterflow.collectors.records import Position, Reason, Record, Reject, Table
from counterflow.collectors.sources.files import FileId, unicode
from counterflow.collectors.sources.wrapped import WITHIN

log = structlog.get_logger()

BEGIN = Position(0, 0)
"""The position of items that come from no file."""


class RecordPlace(NamedTuple):
    """Where a record comes from: its source, its file and how far that was read."""

    source: Source | System
    origin: Origin
    position: Position


@dataclass(slots=True)
class Uncommitted:
    """What the open transaction holds; it counts once it is committed."""

    checkpoints: dict[FileId, Checkpoint] = field(default_factory=dict)
    streams: dict[StreamId, StreamCheckpoint] = field(default_factory=dict)
    answered: set[str] = field(default_factory=set)
    forgotten: list[FileId] = field(default_factory=list)
    records: Counter[tuple[str, str]] = field(default_factory=Counter)
    rejects: Counter[tuple[str, str]] = field(default_factory=Counter)
    read_bytes: Counter[str] = field(default_factory=Counter)
    failures: dict[str, str] = field(default_factory=dict)
    n: int = 0
    began: float = 0.0


class Transaction:
    """Sends records and rejects, and commits them with the checkpoints that cover them.

    `committed` is the state after the last commit; `records` (by dataset), `rejects` (by reason) and `failures` (by
    path) are what this process committed; `files` are those of which it committed a checkpoint. A failure that does not
    recur is dropped by `end_round`.
    """

    def __init__(self, publisher: Publisher, agent_id: str, when: Commit, stop: Event, metrics: Metrics) -> None:
        """`recover` takes over what is committed."""
        self.committed = Committed()
        self.frames: Frames[RecordPlace] = Frames(agent_id)
        self.open = Uncommitted()
        self.records: Counter[str] = Counter()
        self.rejects: Counter[str] = Counter()
        self.failures: dict[str, str] = {}
        self.files: set[FileId] = set()
        self._recurring: set[str] = set()
        self._publisher = publisher
        self._when = when
        self._stop = stop
        self._metrics = metrics

    def recover(self, committed: Committed) -> None:
        """Drop the open transaction and continue behind the committed state."""
        self.committed = committed
        self.open = Uncommitted()
        self.frames.clear(committed.seq)
        self._metrics.committed_seq.set(committed.seq)

    def stream(self, place: StreamId) -> StreamCheckpoint | None:
        """Return how far a stream is sent, committed or not."""
        return self.open.streams.get(place) or self.committed.streams.get(place)

    @property
    def is_due(self) -> bool:
        """True when the transaction is as large or as old as the configuration allows, or the agent is to stop."""
        if not self.open.n:
            return self._stop.is_set()
        late = time.monotonic() - self.open.began >= self._when.interval_s
        return late or self.open.n >= self._when.records or self._stop.is_set()

    def send(self, item: Record | Table, source: Source | System, origin: Origin, position: Position = BEGIN) -> None:
        """Send a record in a frame with others, or a table of them, at the latest when the transaction is committed.

        A row that breaks its schema is sent as a `quality` record and a dead letter.
        """
        sent = self.open
        if not sent.n:
            sent.began = time.monotonic()
        sent.n += item.rows
        place = RecordPlace(source, origin, position)
        self._produce(self.frames.add(item, origin.run, place, source.name))

    def _produce(self, found: Iterable[Framed[RecordPlace] | Broken[RecordPlace]]) -> None:
        for one in found:
            if isinstance(one, Broken):
                self._refuse(one)
            else:
                self.open.records[one.place.source.name, one.dataset] += one.rows
                self._publisher.send(one.message)

    def _refuse(self, broken: Broken[RecordPlace]) -> None:
        source, origin, position = broken.place
        place = Reject(Reason.SCHEMA, "", "none", position.line, position.byte_offset)
        self.open.rejects[source.name, Reason.SCHEMA.value] += 1
        for report in invalid(broken.record, broken.why, place, origin):
            self.send(report, source, origin, position)

    def reject(self, reject: Reject, source: Source | System, origin: Origin) -> None:
        self.open.rejects[source.name, reject.reason.value] += 1
        for report in refused(reject, origin):
            self.send(report, source, origin)

    def not_published(self, source: Source, file: str, why: str) -> None:
        """Note that a file yielded nothing."""
        self._fail(file, why)
        log.warning("not published", source=source.name, file=file, error=why)

    def cannot_read(self, source: Source, error: OSError) -> None:
        """Reject a file or folder that cannot be read, once for each reason."""
        path, why = unicode(str(error.filename)), error.strerror or str(error)
        if why in (self.failures.get(path), self.open.failures.get(path)):
            self.still_fails(path)
            return
        self._fail(path, why)
        self._metrics.file_errors.labels(source.name).inc()
        log.warning("cannot be read", source=source.name, file=path, error=why, exc_info=error.__cause__)
        origin = Origin(path, "agent", source.system, source.run)
        self.reject(Reject(Reason.UNREADABLE, why, "none"), source, origin)

    def failed_before(self, path: str, why: str) -> None:
        """Note a failure that an earlier process reported."""
        self.failures[unicode(path)] = why
        self.still_fails(path)

    def still_fails(self, path: str | Path) -> None:
        """Keep the failure of a file, or of a member of it, if there is one: it is as it was when it failed."""
        self._recurring.add(unicode(str(path)))

    def end_round(self) -> None:
        """Drop the failures that did not recur since the last call; every file was looked at meanwhile."""
        for path in [path for path in self.failures if self._recurring.isdisjoint(_with_packed(path))]:
            del self.failures[path]
        self._recurring.clear()

    def _fail(self, path: str, why: str) -> None:
        self.open.failures[path] = why
        self._recurring.add(path)

    def commit(self, and_then: Callable[[], None]) -> bool:
        """Commit the open transaction and call `and_then`; return False where nothing was in it."""
        sent = self.open
        checkpoints: list[AnyCheckpoint] = [*sent.checkpoints.values(), *sent.streams.values()]
        if not (sent.n or checkpoints or sent.forgotten):
            return False
        with self._metrics.commit_seconds.time():
            self._produce(self.frames.drain())
            self._publisher.commit(checkpoints, sent.forgotten, self.frames.seq)
        and_then()
        for checkpoint in checkpoints:
            self.committed.add(checkpoint)
        for file in sent.forgotten:
            self.committed.files.pop(file, None)
        self._count(sent)
        self.open = Uncommitted()
        return True

    def _count(self, sent: Uncommitted) -> None:
        self.files |= sent.checkpoints.keys()
        self.failures |= sent.failures
        for labels, n in sent.records.items():
            self.records[labels[1]] += n
            self._metrics.records.labels(*labels).inc(n)
        for labels, n in sent.rejects.items():
            self.rejects[labels[1]] += n
            self._metrics.rejects.labels(*labels).inc(n)
        for name, n in sent.read_bytes.items():
            self._metrics.read_bytes.labels(name).inc(n)
        for name in sent.answered:
            self._metrics.last_success.labels(name).set_to_current_time()
        self._metrics.committed_seq.set(self.frames.seq)


def _with_packed(path: str) -> list[str]:
    """Return a path, and that of each file of which it may be a member."""
    parts = path.split(WITHIN)
    return [WITHIN.join(parts[:count]) for count in range(1, len(parts) + 1)]
