"""Records as an agent publishes them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from counterflow.collectors.agent.envelope import Message
from counterflow.collectors.agent.frames import Framed, Frames
from counterflow.collectors.records import Record


def framed(records: Iterable[Record], agent_id: str = "bench") -> Iterator[Message]:
    """Yield the messages of records that are all well-formed."""
    frames: Frames[None] = Frames(agent_id)
    for record in records:
        frames.add(record, None, None)
        yield from _messages(frames.full())
    yield from _messages(frames.drain())


def _messages(found: Iterable[object]) -> Iterator[Message]:
    for one in found:
        assert isinstance(one, Framed), one
        yield one.message
