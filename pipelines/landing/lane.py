"""What the lander reads, inserts and pauses together. No I/O."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field

from counterflow.pipelines.landing.batch import Limits, Message, fill
from counterflow.pipelines.landing.writer import LandedBatch

Key = tuple[str, int]
"""Topic and number of a partition."""


@dataclass
class Lane:
    """What is read, inserted and paused together: a topic; where there are shards, one of its partitions.

    `messages` were read and not inserted yet; `read` has the offset behind them in each partition. `inserting` has the
    same of the insert under way. `failures` counts inserts in a row that failed, the last with `problem`.
    """

    topic: str
    messages: list[Message] = field(default_factory=list)
    read: dict[Key, int] = field(default_factory=dict)
    size: int = 0
    begun_at: float = float("-inf")
    insert: Future[LandedBatch] | None = None
    inserting: dict[Key, int] = field(default_factory=dict)
    inserting_size: int = 0
    paused: bool = False
    failures: int = 0
    problem: str = ""
    retry_at: float = 0.0

    def next_batch(self, limits: Limits) -> list[Message]:
        """Return the messages of the next batch, and note the offsets behind them as those of the insert under way."""
        count = fill(self.messages, limits)
        batch, self.messages = self.messages[:count], self.messages[count:]
        self.inserting_size = sum(map(len, batch))
        self.size -= self.inserting_size
        if self.messages:
            self.inserting = {(self.topic, message.partition()): message.offset() + 1 for message in batch}
        else:
            self.inserting, self.read = self.read, {}
        return batch

    def add(self, key: Key, messages: Sequence[Message], end: int | None) -> None:
        """Add what was read of a partition; `end` is the offset behind its last message, where that is known."""
        if messages:
            self.messages += messages
            self.size += sum(map(len, messages))
            end = max(end or 0, messages[-1].offset() + 1)
        if end is not None:
            self.read[key] = end

    def forget(self) -> None:
        self.messages, self.read, self.size = [], {}, 0

    def give_up(self, partitions: Container[Key]) -> None:
        """Drop what was read of partitions; what is inserted of them is not committed."""
        self.messages = [m for m in self.messages if (m.topic(), m.partition()) not in partitions]
        self.size = sum(map(len, self.messages))
        self.read = {key: offset for key, offset in self.read.items() if key not in partitions}
        self.inserting = {key: offset for key, offset in self.inserting.items() if key not in partitions}


class Lanes:
    """The lanes of the assigned partitions; `landed` has the next offset to land of each partition."""

    def __init__(self, *, by_partition: bool) -> None:
        self.landed: dict[Key, int] = {}
        self._by_partition = by_partition
        self._lanes: dict[object, Lane] = {}

    def __iter__(self) -> Iterator[Lane]:
        return iter([*self._lanes.values()])  # problems are looked for in another thread

    def lane(self, key: Key) -> Lane:
        """Return the lane of a partition."""
        return self._lanes.setdefault(key if self._by_partition else key[0], Lane(key[0]))

    def partitions(self, lane: Lane) -> dict[Key, int]:
        """Return the assigned partitions of a lane, with the next offset to land."""
        return {key: offset for key, offset in self.landed.items() if self.lane(key) is lane}

    @property
    def size(self) -> int:
        """Bytes that are held in memory, those of inserts under way included."""
        return sum(lane.size + lane.inserting_size for lane in self)

    @property
    def inserts(self) -> list[Future[LandedBatch]]:
        return [lane.insert for lane in self if lane.insert]

    def advance(self, offsets: Mapping[Key, int]) -> dict[Key, int]:
        """Move assigned partitions on to these offsets; return those that moved."""
        moved = {key: offset for key, offset in offsets.items() if offset > self.landed.get(key, offset)}
        self.landed |= moved
        return moved

    def give_up(self, partitions: Container[Key]) -> None:
        """Drop partitions that are no longer assigned, and what was read of them."""
        self.landed = {key: offset for key, offset in self.landed.items() if key not in partitions}
        for lane in self:
            lane.give_up(partitions)
