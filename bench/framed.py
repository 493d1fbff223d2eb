"""Records and tables as an agent publishes them, and rows sent to a topic as fast as the broker accepts them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import orjson
from confluent_kafka import Producer

from counterflow.base.kafka import Kafka
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


def send(kafka: Kafka, messages: Iterable[tuple[str, Mapping[str, Any]]]) -> None:
    """Publish messages to their topics as the agent does, keyed by system, and wait until the broker has them all."""
    producer = Producer(
        {**kafka.client, "linger.ms": 20, "compression.type": "lz4", "queue.buffering.max.messages": 200_000}
    )
    for topic, message in messages:
        while True:
            try:
                producer.produce(topic, orjson.dumps(message), message["system"])
                break
            except BufferError:
                producer.poll(0.1)
    if left := producer.flush(60):
        raise RuntimeError(f"{left} messages were not taken")
