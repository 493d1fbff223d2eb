"""Sends the answers of systems, and the labels of the site, with the position of their stream."""

from __future__ import annotations

import copy

import structlog

from counterflow.collectors.agent.checkpoint import StreamCheckpoint, check
from counterflow.collectors.agent.config import System
from counterflow.collectors.agent.envelope import Origin, utc_now
from counterflow.collectors.agent.live import format_name, read_answer, stream_id
from counterflow.collectors.agent.transaction import Transaction
from counterflow.collectors.records import Position, Reason, Record, Reject, Table
from counterflow.collectors.sources.polling.batch import Batch, Cursor

log = structlog.get_logger()


def send_labels(source: System, transaction: Transaction) -> None:
    """Send the labels of a system where they differ from those sent last."""
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
