"""Records and tables as an agent publishes them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from counterflow.collectors.agent.envelope import Message
from counterflow.collectors.agent.frames import Framed, Frames
from counterflow.collectors.records import Item, Record, Table


def framed(items: Iterable[Item], agent_id: str = "bench") -> Iterator[Message]:
    """Yield the messages of records and tables, which must be well-formed; skip all other items."""
    frames: Frames[None] = Frames(agent_id)
    for item in items:
        if isinstance(item, Record | Table):
            frames.add(item, None, None)
            yield from _messages(frames.full())
    yield from _messages(frames.drain())


def _messages(found: Iterable[object]) -> Iterator[Message]:
    for one in found:
        assert isinstance(one, Framed), one
        yield one.message
