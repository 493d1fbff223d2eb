"""Reads the topics as a member of the landers' group, and knows where each of its partitions stands.

What was read waits by topic, until a batch of it is due.
"""

from __future__ import annotations

import time
from bisect import bisect_right
from collections.abc import Collection, Container, Iterator, Mapping, Sequence
from itertools import accumulate, groupby
from typing import NamedTuple

import structlog
from confluent_kafka import Consumer, KafkaError, KafkaException, Message, TopicPartition

from counterflow.pipelines.landing import metrics
from counterflow.pipelines.landing.broker import STOPS, Broker

_TIMEOUT_S = 10.0

log = structlog.get_logger()


class Limits(NamedTuple):
    """When a batch is due: at so many messages or bytes, or so long after the one before, whichever comes first.

    So messages after a quiet moment are inserted at once, and a topic makes at most one small insert a second. The
    bytes bound what the engine holds: frames that leave out most columns of a wide table have many rows.
    """

    messages: int = 100_000
    size: int = 16_000_000
    pause_s: float = 1.0


def fill(messages: Sequence[Message], limits: Limits) -> int:
    """Count the leading messages that fit into one batch, at least one."""
    sizes = accumulate(map(len, messages[: limits.messages]))
    return max(1, bisect_right(list(sizes), limits.size))


Key = tuple[str, int]
"""Topic and number of a partition."""


class Collected:
    """Messages by topic, in the order of each partition; `ends` has the offset behind them, by partition."""

    def __init__(self) -> None:
        self.messages: dict[str, list[Message]] = {}
        self.ends: dict[Key, int] = {}
        self.size = 0
        """Bytes of the messages."""

    def add(self, topic: str, messages: Sequence[Message]) -> None:
        self.messages.setdefault(topic, []).extend(messages)
        for key, end in _ends(topic, messages).items():
            self.end_at(key, end)
        self.size += sum(map(len, messages))

    def end_at(self, key: Key, end: int) -> None:
        """Note that what was read of a partition ends there: markers of transactions follow its last message."""
        self.ends[key] = max(end, self.ends.get(key, 0))

    def drop(self, topic: str) -> None:
        """Forget what was read of a topic."""
        self.size -= sum(map(len, self.messages.pop(topic, ())))
        self.ends = {key: end for key, end in self.ends.items() if key[0] != topic}

    def give_up(self, partitions: Container[Key]) -> None:
        """Forget where these partitions end: what was read of them may land, and another lander commits it."""
        self.ends = {key: end for key, end in self.ends.items() if key not in partitions}

    def batches(self, limits: Limits) -> Iterator[tuple[str, list[Message], dict[Key, int]]]:
        """Yield the topic, the messages of a batch, in order, and the offsets behind them.

        A topic of which only the end of partitions was read, behind markers of transactions, has one without messages.
        """
        for topic in dict.fromkeys([*self.messages, *(topic for topic, _ in self.ends)]):
            left = self.messages.get(topic, [])
            while len(left) > (count := fill(left, limits)):
                batch, left = left[:count], left[count:]
                yield topic, batch, _ends(topic, batch)
            yield topic, left, {key: end for key, end in self.ends.items() if key[0] == topic}


def _ends(topic: str, messages: Sequence[Message]) -> dict[Key, int]:
    """Return the offsets behind messages of a topic, by partition."""
    return {(topic, message.partition() or 0): (message.offset() or 0) + 1 for message in messages}


class TopicReader:
    """A member of the group.

    Parameters
    ----------
    broker : the settings of its consumer.
    tables : table by topic.
    """

    def __init__(self, broker: Broker, tables: Mapping[str, str]) -> None:
        """Connect without waiting for a broker."""
        self._tables = tables
        self._consumer = Consumer({**broker.consumer, "on_commit": _committed})
        self.landed: dict[Key, int] = {}
        """The next offset to land of each assigned partition."""
        self.ahead = Collected()
        self.paused: set[str] = set()
        self.read_at = time.monotonic()

    def join(self) -> None:
        """Join the group; partitions are assigned, and revoked, while messages are read."""
        self._consumer.subscribe(
            [*self._tables], on_assign=self._assigned, on_revoke=self._revoked, on_lost=self._revoked
        )

    def leave(self) -> None:
        """Commit what landed, and leave the group; whoever is next lands again what Kafka did not commit."""
        try:
            self._consumer.close()
        except KafkaException as error:
            log.warning("left the group without an answer of Kafka", error=error.args[0].str())

    def take(self) -> Collected:
        """Return what was read since the last time."""
        taken, self.ahead = self.ahead, Collected()
        return taken

    def read(self, most: int, patience_s: float) -> int:
        """Read available messages, and return how many; those of a paused topic are read again later."""
        self.read_at = time.monotonic()
        read = self._consumer.consume(most, patience_s)
        if any(map(Message.error, read)):
            read = [message for message in read if not self._is_event(message)]
        for topic, messages in groupby(read, Message.topic):
            if topic and topic not in self.paused:
                self.ahead.add(topic, list(messages))
        return len(read)

    def _is_event(self, message: Message) -> bool:
        """Return whether it is no message but an event; raise `KafkaException` where reading cannot go on."""
        error = message.error()
        if error is None:
            return False
        topic = message.topic() or ""
        if error.code() == KafkaError._PARTITION_EOF:
            if topic not in self.paused:
                self.ahead.end_at((topic, message.partition() or 0), message.offset() or 0)
        elif error.code() in STOPS or error.fatal():
            raise KafkaException(error)
        else:
            log.warning("kafka", topic=topic, error=error.str())
        return True

    def advance(self, ends: Mapping[Key, int]) -> None:
        """Commit offsets behind what landed; those of partitions that moved away are of their new owner."""
        moved = {key: end for key, end in ends.items() if end > self.landed.get(key, end)}
        if moved:
            self.landed |= moved
            self._consumer.store_offsets(offsets=_at(moved))
            self._consumer.commit(asynchronous=True)

    def pause(self, topic: str) -> None:
        """Read no more of a topic, and forget what was read of it."""
        self.paused.add(topic)
        self.ahead.drop(topic)
        self._consumer.pause(_at(self._of(topic)))

    def resume(self, topic: str) -> None:
        """Read a paused topic on behind what landed; raises `KafkaException`."""
        partitions = _at(self._of(topic))
        for partition in partitions:
            self._consumer.seek(partition)
        self._consumer.resume(partitions)
        self.paused.discard(topic)

    def committed(self, partitions: Collection[Key]) -> dict[Key, int]:
        """Return up to where landers of the group have committed these partitions; raises `KafkaException`."""
        found = self._consumer.committed([TopicPartition(*key) for key in partitions], timeout=_TIMEOUT_S)
        return {(at.topic, at.partition): at.offset for at in found if not at.error}

    def _assigned(self, consumer: Consumer, assigned: list[TopicPartition]) -> None:
        """Take partitions over; what the client raises is raised anew, since `except` would not catch it otherwise."""
        try:
            self._take_over(consumer, assigned)
        except KafkaException as error:
            raise KafkaException(*error.args) from None

    def _take_over(self, consumer: Consumer, assigned: list[TopicPartition]) -> None:
        """Set offset and pause of each partition: librdkafka keeps a pause across assignments, and may have offsets."""
        if not assigned:
            return
        begin = []
        for found in consumer.committed(assigned, timeout=_TIMEOUT_S):
            if found.error:
                raise KafkaException(found.error)
            key = found.topic, found.partition
            oldest, _ = consumer.get_watermark_offsets(TopicPartition(*key), timeout=_TIMEOUT_S) or (0, 0)
            self.landed[key] = max(oldest, found.offset)
            begin.append(TopicPartition(*key, self.landed[key]))
            if 0 <= found.offset < oldest:
                metrics.EXPIRED.labels(self._tables[found.topic]).inc(oldest - found.offset)
                log.error(
                    "kafka deleted records before they were landed",
                    topic=found.topic,
                    partition=found.partition,
                    since=found.offset,
                    landed=oldest,
                )
        consumer.incremental_assign(begin)
        consumer.store_offsets(offsets=begin)  # committed where nothing was: else nobody would miss what Kafka deletes
        consumer.resume(begin)
        if waiting := [at for at in begin if at.topic in self.paused]:
            consumer.pause(waiting)
        log.info("assigned", partitions=len(begin))

    def _revoked(self, consumer: Consumer, revoked: list[TopicPartition]) -> None:
        """Leave partitions to their new owner, which lands again what is not committed."""
        gone = {(partition.topic, partition.partition) for partition in revoked}
        for key in gone & self.landed.keys():
            metrics.LAG.remove(*map(str, key))
            del self.landed[key]
        self.ahead.give_up(gone)
        log.info("revoked", partitions=len(gone))

    def _of(self, topic: str) -> dict[Key, int]:
        """Return the assigned partitions of a topic, with the next offset to land."""
        return {key: offset for key, offset in self.landed.items() if key[0] == topic}


def _committed(error: KafkaError | None, partitions: list[TopicPartition]) -> None:
    if error and error.code() != KafkaError._NO_OFFSET:
        log.warning("commit failed, the next one covers it", error=error.str())


def _at(offsets: Mapping[Key, int]) -> list[TopicPartition]:
    return [TopicPartition(*key, offset) for key, offset in offsets.items()]
