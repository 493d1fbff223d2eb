"""Where topics are read on, and what is told of them; with a real broker: tests/integration/test_kafka_source.py."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Any, cast

import pytest
from confluent_kafka import KafkaError

from counterflow.collectors.sources.asking.batch import Batch, Cursor
from counterflow.collectors.sources.asking.session import AskError
from counterflow.collectors.sources.kafka.session import Place, Range, Session
from counterflow.collectors.sources.kafka.topics import MOST_BYTES, MOST_MESSAGES, REFRESH_S, Topics

A, B = Place("t", 0), Place("t", 1)


@dataclass
class Said:
    """A message, or what a partition has to say."""

    place: Place | None
    number: int = 0
    content: bytes | None = b"x"
    trouble: KafkaError | None = None

    def topic(self) -> str | None:
        return self.place.topic if self.place else None

    def partition(self) -> int | None:
        return self.place.partition if self.place else None

    def offset(self) -> int:
        return self.number

    def value(self) -> bytes | None:
        return self.content

    def error(self) -> KafkaError | None:
        return self.trouble


@dataclass
class Cluster:
    """A session with a cluster that holds what the test puts in."""

    holds: dict[Place, Range]
    cluster: str = "c1"
    number: int = 1
    waiting: deque[Said] = field(default_factory=deque)
    assigned: dict[Place, int] = field(default_factory=dict)
    closed: bool = False

    def partitions(self, topics: Any) -> dict[str, list[Place]]:
        return {topic: [place for place in self.holds if place.topic == topic] for topic in topics}

    def range(self, place: Place) -> Range:
        return self.holds[place]

    def assign(self, offsets: dict[Place, int]) -> None:
        self.assigned = offsets

    def poll(self, timeout_s: float) -> Said | None:
        return self.waiting.popleft() if self.waiting else None

    def close(self) -> None:
        self.closed = True


def read(topics: Topics, cluster: Cluster) -> list[Batch]:
    return list(topics.read(cast(Session, cluster)))


def at(offset: int, cluster: str = "c1") -> dict[str, Cursor]:
    return {A.text: {"n": 3, "offset": offset, "cluster": cluster}}


@pytest.mark.parametrize(
    ("committed", "begins", "told"),
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
def test_a_partition_is_read_on_where_it_stood(committed: dict[str, Cursor], begins: int, told: str | None) -> None:
    cluster = Cluster({A: Range(5, 9)})
    assert [batch.trouble for batch in read(Topics(["t"], committed), cluster)] == ([told] if told else [])
    assert cluster.assigned == {A: begins}


def test_lines_of_a_partition_stand_together_with_the_offset_behind_them() -> None:
    cluster = Cluster({A: Range(0, 9), B: Range(0, 9)})
    cluster.waiting.extend(
        [Said(A, 4, b"one\ntwo\n"), Said(B, 2, b"three"), Said(A, 6, b"four"), Said(B, 5, None), Said(A, 7, b"")]
    )
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
    cluster.waiting.extend(Said(A, n) for n in range(MOST_MESSAGES + 1))
    assert [batch.position["offset"] for batch in read(Topics(["t"], {}), cluster)] == [
        MOST_MESSAGES,
        MOST_MESSAGES + 1,
    ]
    cluster.waiting.extend(Said(A, n, b"x" * (MOST_BYTES // 2)) for n in range(3))
    assert [batch.position["offset"] for batch in read(Topics(["t"], {}), cluster)] == [2, 3]


def test_a_topic_and_a_partition_that_come_later_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr("counterflow.collectors.sources.kafka.topics.time.monotonic", lambda: now)
    cluster, topics = Cluster({}), Topics(["t"], {})
    (missing,) = read(topics, cluster)
    assert missing.trouble == "the cluster has no topic t, or none that this user may describe"
    now += REFRESH_S
    assert read(topics, cluster) == []  # said once
    cluster.holds = {A: Range(0, 3)}
    assert (read(topics, cluster), cluster.assigned) == ([], {})  # not yet looked for
    now += REFRESH_S
    assert (read(topics, cluster), cluster.assigned) == ([], {A: 0})
    cluster.waiting.append(Said(A, 2))
    read(topics, cluster)
    cluster.holds = {A: Range(0, 3), B: Range(0, 0)}
    now += REFRESH_S
    assert (read(topics, cluster), cluster.assigned) == ([], {A: 3, B: 0})


def test_after_another_connection_it_goes_on_where_it_was_read_to() -> None:
    cluster, topics = Cluster({A: Range(0, 9)}), Topics(["t"], at(4))
    cluster.waiting.append(Said(A, 4))
    read(topics, cluster)
    cluster.number, cluster.assigned = 2, {}
    read(topics, cluster)
    assert cluster.assigned == {A: 5}


def test_what_a_partition_has_to_say_is_told_and_it_is_assigned_again() -> None:
    cluster, topics = Cluster({A: Range(0, 9)}), Topics(["t"], at(4))
    read(topics, cluster)
    cluster.holds, cluster.assigned = {A: Range(6, 9)}, {}
    cluster.waiting.append(Said(A, trouble=KafkaError(KafkaError._AUTO_OFFSET_RESET, "fetch failed")))
    (told,) = read(topics, cluster)
    assert told.trouble is not None
    assert "fetch failed" in told.trouble
    (gone,) = read(topics, cluster)
    assert (gone.trouble, cluster.assigned) == ("t/0: offsets 4 to 5 were deleted before they were read (2)", {A: 6})


def test_an_error_of_no_partition_connects_again() -> None:
    cluster = Cluster({A: Range(0, 9)})
    cluster.waiting.append(Said(None, trouble=KafkaError(KafkaError.GROUP_AUTHORIZATION_FAILED)))
    with pytest.raises(AskError):
        read(Topics(["t"], {}), cluster)
    assert cluster.closed
