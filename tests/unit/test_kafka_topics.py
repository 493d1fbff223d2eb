"""Where reading of topics resumes, and what is reported; with a real broker: tests/integration/test_kafka_source.py."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Any, cast

import pytest
from confluent_kafka import KafkaError, Message

from counterflow.collectors.sources.kafka.session import KafkaSession, Partition, Range
from counterflow.collectors.sources.kafka.topics import MOST_BYTES, MOST_MESSAGES, REFRESH_S, Topics
from counterflow.collectors.sources.polling.batch import Batch, Cursor

A, B = Partition("t", 0), Partition("t", 1)


def message(place: Partition, offset: int = 0, value: bytes | None = b"x", error: KafkaError | None = None) -> Message:
    return Message(topic=place.topic, partition=place.partition, offset=offset, value=value, error=error)


@dataclass
class Cluster:
    """A session with a cluster that holds the messages that the test puts in."""

    holds: dict[Partition, Range]
    cluster: str = "c1"
    number: int = 1
    waiting: deque[Message] = field(default_factory=deque)
    assigned: dict[Partition, int] = field(default_factory=dict)

    def partitions(self, topics: Any) -> dict[str, list[Partition]]:
        return {topic: [place for place in self.holds if place.topic == topic] for topic in topics}

    def range(self, place: Partition) -> Range:
        return self.holds[place]

    def assign(self, offsets: dict[Partition, int]) -> None:
        self.assigned = offsets

    def poll(self, timeout_s: float) -> Message | None:
        return self.waiting.popleft() if self.waiting else None


def read(topics: Topics, cluster: Cluster) -> list[Batch]:
    return list(topics.read(cast(KafkaSession, cluster)))


def at(offset: int, cluster: str = "c1") -> dict[str, Cursor]:
    return {A.text: {"n": 3, "offset": offset, "cluster": cluster}}


@pytest.mark.parametrize(
    ("committed", "begins", "error"),
    [
        ({}, 5, None),
        (at(7), 7, None),
        (at(5), 5, None),
        (at(9), 9, None),
        (at(3), 5, "t/0: offsets 3 to 4 were deleted before they were read (2)"),
        (at(10), 5, "t/0: ends at offset 9 before 10, made anew: read from its beginning"),
        (at(7, "c0"), 5, "t/0: another cluster than before (c1), read from its beginning"),
    ],
)
def test_reading_resumes_at_the_committed_offset(committed: dict[str, Cursor], begins: int, error: str | None) -> None:
    cluster = Cluster({A: Range(5, 9)})
    assert [batch.trouble for batch in read(Topics(["t"], committed), cluster)] == ([error] if error else [])
    assert cluster.assigned == {A: begins}


def test_lines_of_a_partition_come_together_with_the_next_offset() -> None:
    cluster = Cluster({A: Range(0, 9), B: Range(0, 9)})
    for place, offset, value in ((A, 4, b"one\ntwo\n"), (B, 2, b"three"), (A, 6, b"four"), (B, 5, None), (A, 7, b"")):
        cluster.waiting.append(message(place, offset, value))
    first, second = read(Topics(["t"], {}), cluster)
    assert (first.stream, first.body, first.position) == (
        "t/0",
        b"one\ntwo\nfour\n",
        {"n": 1, "offset": 8, "cluster": "c1"},
    )
    assert first.origin == "t/0 from offset 4"
    assert (second.stream, second.body, second.position["offset"]) == ("t/1", b"three\n", 6)


def test_a_batch_is_bounded() -> None:
    cluster = Cluster({A: Range(0, 9)})
    cluster.waiting.extend(message(A, n) for n in range(MOST_MESSAGES + 1))
    offsets = [batch.position["offset"] for batch in read(Topics(["t"], {}), cluster)]
    assert offsets == [MOST_MESSAGES, MOST_MESSAGES + 1]
    cluster.waiting.extend(message(A, n, b"x" * (MOST_BYTES // 2)) for n in range(3))
    assert [batch.position["offset"] for batch in read(Topics(["t"], {}), cluster)] == [2, 3]


def test_a_partition_is_found_and_a_failed_one_assigned_again_while_messages_keep_coming(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = 0.0
    monkeypatch.setattr("counterflow.collectors.sources.kafka.topics.time.monotonic", lambda: now)
    cluster, topics = Cluster({A: Range(0, 9)}), Topics(["t"], {})
    cluster.waiting.append(message(A, 0))
    batches = topics.read(cast(KafkaSession, cluster))
    assert (next(batches).position["offset"], cluster.assigned) == (1, {A: 0})
    cluster.holds[B] = Range(0, 9)
    now += REFRESH_S
    cluster.waiting.append(message(A, 1))
    assert (next(batches).position["offset"], cluster.assigned) == (2, {A: 1, B: 0})
    cluster.assigned = {}
    cluster.waiting.extend([message(B, error=KafkaError(KafkaError._AUTO_OFFSET_RESET, "fetch failed")), message(A, 2)])
    assert [next(batches).stream for _ in range(2)] == ["t/1", "t/0"]
    cluster.waiting.append(message(A, 3))
    assert (next(batches).position["offset"], cluster.assigned) == (4, {A: 3, B: 0})
