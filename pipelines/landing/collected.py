"""What was read from Kafka and is not inserted yet. No I/O."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence

from confluent_kafka import Message

from counterflow.pipelines.landing.batch import Limits, fill

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
