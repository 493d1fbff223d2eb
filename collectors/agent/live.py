"""The systems that are queried, as the runner sees them: their answers, sent with the position of their stream.

A file can be read again after a lost transaction, an answer cannot: the system would answer something else. So a batch
stays here until the commit after its own. Where the committed state lacks it, it is published again: its transaction
was lost, or the broker forgot a commit that it had acknowledged.

Only this module distinguishes kinds of sources: how a system is queried (`_polled`), and how its answers are read
(`read_answer`).
"""

from __future__ import annotations

import copy
import time
from collections.abc import Iterator, Sequence
from functools import partial
from io import BytesIO
from typing import Any, cast
from zoneinfo import ZoneInfo

import structlog

from counterflow.base.kafka import Kafka
from counterflow.collectors.agent.checkpoint import Committed, StreamCheckpoint, StreamId, check
from counterflow.collectors.agent.config import (
    HttpSource,
    KafkaSource,
    ListenSource,
    OpenMetricsSource,
    SpoolFolder,
    SqlSource,
    System,
)
from counterflow.collectors.agent.envelope import Origin, utc_now
from counterflow.collectors.agent.metrics import Metrics
from counterflow.collectors.agent.transaction import Transaction
from counterflow.collectors.formats import formats
from counterflow.collectors.formats.ibmi_tables.rows import read_rows
from counterflow.collectors.formats.ibmi_tables.values import SOURCE as IBMI_TABLES
from counterflow.collectors.records import Context, Position, Reason, Record, Reject, Table
from counterflow.collectors.sources.files import unicode
from counterflow.collectors.sources.http.reports import Dds, RmfReport
from counterflow.collectors.sources.http.scrapes import ACCEPT, Scrapes
from counterflow.collectors.sources.http.session import HttpSession
from counterflow.collectors.sources.kafka.session import KafkaSession
from counterflow.collectors.sources.kafka.topics import Topics
from counterflow.collectors.sources.listening import ListeningSession, Samples
from counterflow.collectors.sources.polling.batch import Batch, Cursor, Task
from counterflow.collectors.sources.polling.reader import OnEvent, PollingThread
from counterflow.collectors.sources.polling.waiting import IN_MEMORY_BYTES, Spool
from counterflow.collectors.sources.sql.drivers import driver
from counterflow.collectors.sources.sql.members import Follow
from counterflow.collectors.sources.sql.packs import load
from counterflow.collectors.sources.sql.samples import RepeatedQuery
from counterflow.collectors.sources.sql.session import SqlSession
from counterflow.collectors.sources.sql.verdicts import Verdicts

log = structlog.get_logger()

STOP_S = 2.0
AT_ONCE = 4
"""Batches of a system that are published one after the other, before another has its turn."""


class Live:
    """One reader per system."""

    def __init__(self, sources: Sequence[System], metrics: Metrics, spool: SpoolFolder | None = None) -> None:
        self.sources = sources
        self._spool = spool
        self._metrics = metrics
        self._readers: list[tuple[System, PollingThread[Any]]] = []
        self._taken: list[tuple[System, Batch]] = []
        self._acknowledged: list[tuple[System, Batch]] = []

    def start(self, known: Committed) -> None:
        """Start querying, behind the committed positions."""
        for source in self.sources:
            committed = _positions(source, known)
            path, most = None, IN_MEMORY_BYTES
            if self._spool and not isinstance(source, KafkaSource):  # a topic keeps its messages by itself
                path, most = self._spool.path / f"{source.name}.sqlite", int(self._spool.max_mb * 1e6)
            spool = Spool(path, most, committed)
            reader = _polled(source, spool.positions, partial(self._on_event, source.name), spool)
            self._readers.append((source, reader))
            self._metrics.system_connected.labels(source.name).set(0)
            reader.start()

    def waiting(self) -> Iterator[tuple[System, Batch]]:
        """Yield the batches to publish, a few of each system, with the source that each came from."""
        for source, reader in self._readers:
            for _ in range(AT_ONCE):
                if (batch := reader.waiting.next_batch()) is None:
                    break
                if batch.is_answer:
                    self._metrics.answer_seconds.labels(source.name, batch.table).observe(batch.seconds)
                self._taken.append((source, batch))
                yield self._taken[-1]

    def committed(self) -> None:
        """Keep the batches of this commit until the next one, and release those of the commit before."""
        readers = {source.name: reader for source, reader in self._readers}
        for source, batch in self._acknowledged:
            readers[source.name].waiting.done(batch)
        self._acknowledged, self._taken = self._taken, []

    def take_back(self, committed: Committed) -> None:
        """Offer again the batches that are not committed."""
        self._acknowledged, self._taken = [], []
        for source, reader in self._readers:
            of_source = _positions(source, committed)
            reader.waiting.take_back({stream: int(position.get("n", 0)) for stream, position in of_source.items()})

    def stop(self) -> None:
        """Send no more queries, and give open ones a moment to end."""
        for _, reader in self._readers:
            reader.stop()
        until = time.monotonic() + STOP_S
        for _, reader in self._readers:
            reader.join(max(0.0, until - time.monotonic()))

    def _on_event(self, source: str, event: str) -> None:
        self._metrics.system_events.labels(source, event).inc()
        if event in ("connected", "lost", "refused"):
            self._metrics.system_connected.labels(source).set(event == "connected")


def send_labels(source: System, transaction: Transaction) -> None:
    """Send the labels of a system where they differ from those sent last; data of several systems have none."""
    if isinstance(source, KafkaSource | ListenSource):
        return
    place = stream_id(source, "labels")
    known = transaction.stream(place)
    if source.labels == (known.state if known else {}):
        return
    origin = Origin(source.name, "agent", source.system, source.run)
    transaction.frames.collected_at = utc_now()
    for name, value in source.labels.items():
        fields = {"system": source.system, "source": "agent", "section": "labels", "item": ""}
        transaction.send(Record("config", {**fields, "name": name, "value": value}), source, origin)
    transaction.open.streams[place] = StreamCheckpoint(*place, state=source.labels)


def send_answer(source: System, batch: Batch, transaction: Transaction) -> None:
    """Send the records of an answer, with the position that it reaches and the state that its format keeps.

    Where the format fails, or leaves a state that no checkpoint can keep, the answer is refused as a whole.
    """
    place, group = stream_id(source, batch.stream), stream_id(source, batch.group)
    known = transaction.stream(group)
    state = copy.deepcopy(known.state) if known else {}
    origin = Origin(batch.origin, format_name(source), source.system, source.run)
    transaction.frames.collected_at = utc_now()
    items: list[Record | Table | Reject] = []
    trouble = batch.trouble
    if batch.is_answer and trouble is None:
        try:
            items = list(read_answer(source, batch, state))
            check(StreamCheckpoint(*group, batch.position, state))
            transaction.open.answered.add(source.name)
        except Exception as error:
            log.exception("the format failed", source=source.name, table=batch.table)
            items, state, trouble = [], known.state if known else {}, f"the format failed: {error!r}"
    if trouble is not None:
        items = [Reject(Reason.UNREADABLE, trouble, "none", section=batch.table, raw=batch.body)]
    for item in items:
        if isinstance(item, Reject):
            transaction.reject(item, source, origin)
        else:
            transaction.send(item, source, origin)
    position = _position(batch, transaction.stream(place))
    transaction.open.streams[group] = StreamCheckpoint(*group, state=state)
    transaction.open.streams[place] = StreamCheckpoint(*place, position, state if place == group else {})


def _position(batch: Batch, known: StreamCheckpoint | None) -> Cursor:
    """Return the position that a batch reaches; where no checkpoint can keep it, the known one with its number."""
    try:
        check(Position(0, 0, batch.position))
    except ValueError:
        return {**(known.position if known else {}), "n": batch.position["n"]}
    return batch.position


def stream_id(source: System, stream: str) -> StreamId:
    return StreamId(source.name, _place(source), unicode(stream))


def format_name(source: System) -> str:
    if isinstance(source, HttpSource):
        return "rmf_dds"
    if isinstance(source, OpenMetricsSource):
        return "openmetrics"
    if isinstance(source, ListenSource):
        return "njmon"
    return source.format if isinstance(source, KafkaSource) else IBMI_TABLES


def read_answer(source: System, batch: Batch, state: dict[str, Any]) -> Iterator[Record | Table | Reject]:
    """Yield the records of an answer; update `state`, which its format keeps for the next answer."""
    zone = ZoneInfo(source.zone)
    columns = {**batch.named, **source.columns} if isinstance(source, SqlSource | KafkaSource) else {}
    at = batch.sampled_at if isinstance(source, ListenSource) else None
    context = Context(batch.origin, zone, source.system, at=at, columns=columns)
    if isinstance(source, SqlSource):
        yield from read_rows(batch.table, batch.columns, batch.rows, context, state, batch.sampled_at)
        return
    behind = Position(0, 0, dict(state)) if state else None
    for item in formats()[format_name(source)].parse(BytesIO(batch.body), context, behind):
        if isinstance(item, Position):
            state.clear()
            state.update(item.state)
        else:
            yield item


def _positions(source: System, committed: Committed) -> dict[str, Cursor]:
    """Return the committed position of each stream of a source."""
    place = (source.name, _place(source))
    return {k.stream: k.position for k in committed.streams.values() if (k.source, k.system) == place}


def _place(source: System) -> str:
    """Return the name under which streams are committed: of the system, or the kind where streams name systems."""
    return source.kind if isinstance(source, KafkaSource | ListenSource) else source.system


def _polled(source: System, committed: dict[str, Cursor], on_event: OnEvent, waiting: Spool) -> PollingThread[Any]:
    """Return the reader of a system, behind the committed positions."""
    if isinstance(source, KafkaSource):
        topics = Topics(source.topics, committed)
        return PollingThread(source.name, KafkaSession(cast(Kafka, source.connection)), [topics], on_event, waiting)
    if isinstance(source, ListenSource):
        listening = ListeningSession(*source.at)
        return PollingThread(source.name, listening, [Samples(source.name, committed)], on_event, waiting, drain=True)
    if isinstance(source, HttpSource):
        password = source.connection.password
        dds = Dds(source.connection, password.read if password else None)
        reports = [RmfReport(name, source.system, source.interval_s, committed.get(name)) for name in source.reports]
        return PollingThread(source.name, dds, reports, on_event, waiting)
    if isinstance(source, OpenMetricsSource):
        secret, path = source.connection.secret, source.connection.path
        target = HttpSession(source.connection, secret.read if secret else None, ACCEPT, source.timeout_s)
        name = f"{source.system}:{source.name}"
        scrapes = Scrapes(source.name, name, path, source.parameters, source.interval_s, committed.get("scrape"))
        return PollingThread(source.name, target, [scrapes], on_event, waiting)
    connection = source.connection
    session = SqlSession(driver(connection.driver), connection, connection.password.read)
    return PollingThread(source.name, session, list(_tasks(source, committed)), on_event, waiting)


def _tasks(source: SqlSource, committed: dict[str, Cursor]) -> Iterator[Task[SqlSession]]:
    """Yield the queries of the packs of a source."""
    verdict = partial(Verdicts(source.verdicts).raised, source.system) if source.verdicts else None
    for pack in map(load, source.packs):
        of_pack_s = source.intervals.get(pack.pack)
        for query in pack.queries:
            interval_s = source.intervals.get(query.table) or of_pack_s or query.interval_s or pack.interval_s
            query = query.model_copy(update={"timeout_s": query.timeout_s or pack.timeout_s})
            when = verdict if pack.when else None
            yield RepeatedQuery(query, interval_s, source.system, committed.get(query.table), when)
        if pack.members:
            default_s = of_pack_s or pack.interval_s
            yield Follow(pack.members, default_s, source.system, committed, source.library)
