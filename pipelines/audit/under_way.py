"""Finds records that are committed in Kafka and not landed yet, by agent and `seq`: neither lost nor stored."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing
from typing import NamedTuple

import msgspec
from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

from counterflow.base.kafka import Kafka
from counterflow.pipelines.landing.broker import GROUP
from counterflow.schemas.frame import MOST_ROWS

_READ = 1_000  # messages at a time
_TIMEOUT_S = 10.0

Seqs = Sequence[int]
Run = tuple[int, int]


class _Numbered(msgspec.Struct):
    """The fields that identify the rows of a counted message."""

    agent_id: str
    seq: int
    frame_rows: int = 1


_numbered = msgspec.json.Decoder(_Numbered).decode


def under_way(kafka: Kafka, topics: Collection[str]) -> Mapping[str, Seqs]:
    """Return, by agent, every `seq` in the topics from the lander's committed offset on; a frame has those of its rows.

    Some may have landed in the meantime. A message without agent or `seq` belongs to no account and is left out.
    """
    found: dict[str, array[int]] = defaultdict(lambda: array("Q"))
    with beside_the_lander(kafka) as consumer:
        spans = {(at.topic, at.partition): (at.committed, at.high) for at in positions(consumer, topics)}
        for _, value in messages(consumer, spans):
            try:
                record = _numbered(value)
            except (msgspec.DecodeError, UnicodeDecodeError):
                continue
            if record.seq >= 0 and 1 <= record.frame_rows <= MOST_ROWS:
                found[record.agent_id].extend(range(record.seq, record.seq + record.frame_rows))
    return found


def beside_the_lander(kafka: Kafka) -> AbstractContextManager[Consumer]:
    """Open a consumer that can request the lander's committed offsets; it does not join the group."""
    consumer = Consumer(
        {
            **kafka.client,
            "group.id": GROUP,
            "isolation.level": "read_committed",
            "enable.auto.commit": False,
            "enable.auto.offset.store": False,
            "enable.partition.eof": True,
            "auto.offset.reset": "earliest",
            "fetch.wait.max.ms": 50,
            "log_level": 0,
            "error_cb": lambda _: None,  # a lasting error is raised
        }
    )
    return closing(consumer)


class Position(NamedTuple):
    """A partition from its oldest message at `low` up to, but excluding, `high`; the lander resumes at `committed`."""

    topic: str
    partition: int
    low: int
    committed: int
    high: int


def runs(seqs: Iterable[int]) -> list[Run]:
    """Return the numbers as runs, as (first, last)."""
    out: list[Run] = []
    for seq in sorted(seqs):
        if out and seq <= out[-1][1] + 1:
            out[-1] = out[-1][0], seq
        else:
            out.append((seq, seq))
    return out


def positions(consumer: Consumer, topics: Collection[str]) -> Iterator[Position]:
    """Yield the lander's position in each partition."""
    there = consumer.list_topics(timeout=_TIMEOUT_S).topics
    partitions = [TopicPartition(name, number) for name in topics if name in there for number in there[name].partitions]
    for kept in consumer.committed(partitions, timeout=_TIMEOUT_S):
        if kept.error:
            raise KafkaException(kept.error)
        low, high = consumer.get_watermark_offsets(TopicPartition(kept.topic, kept.partition), _TIMEOUT_S) or (0, 0)
        yield Position(kept.topic, kept.partition, low, max(low, kept.offset), high)


def messages(consumer: Consumer, spans: Mapping[tuple[str, int], tuple[int, int]]) -> Iterator[tuple[str, bytes]]:
    """Yield topic and value of the messages of partitions from one offset up to, but excluding, another."""
    ends = {key: end for key, (begin, end) in spans.items() if begin < end}
    consumer.assign([TopicPartition(*key, spans[key][0]) for key in ends])
    while ends:
        read = consumer.consume(_READ, _TIMEOUT_S)
        if not read:
            raise KafkaException(KafkaError(KafkaError._TIMED_OUT, f"{sorted(ends)} cannot be read to their ends"))
        for message in read:
            place, offset = (message.topic() or "", message.partition() or 0), message.offset() or 0
            if (error := message.error()) and error.code() != KafkaError._PARTITION_EOF:
                raise KafkaException(error)
            if place not in ends:
                continue
            if not error and offset < ends[place] and (value := message.value()) is not None:
                yield place[0], value
            if error or offset + 1 >= ends[place]:
                del ends[place]
