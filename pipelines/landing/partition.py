"""State of one topic-partition: what is read, in flight and landed. No I/O and no clock."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from counterflow.pipelines.landing.batch import Batch, Limits, Message, Range, fill


class Stored(NamedTuple):
    """The commit of the consumer group: the next offset to land, and the range being inserted."""

    offset: int
    metadata: str


class Partition:
    """One topic-partition between assignment and revocation.

    `landed` is the next offset that is not in ClickHouse yet; every range begins there, so ranges tile the log.
    `batch` is in flight. `wanted` is the commit that Kafka should hold, `stored` the one that it holds: a batch may be
    sent only while they agree. `owed` is a range that an earlier process may have inserted in part: the next batch is
    exactly that range, however long reading it takes.
    """

    def __init__(self, topic: str, topic_id: str, partition: int, stored: Stored, landed: int) -> None:
        """Begin at `landed`: the committed offset, or the oldest one that Kafka still has."""
        self.topic = topic
        self.topic_id = topic_id
        self.partition = partition
        self.stored = stored
        self.landed = landed
        self.owed = Range.parse(stored.metadata)
        self.batch: Batch | None = None
        self.held = 0
        """Bytes in memory."""
        self.attempts = 0
        """Failed inserts of the batch."""
        self.problem = ""
        """Error of the last one."""
        self.retry_at = 0.0
        self.paused = False
        self._waiting: list[Message] = []
        self._cut_at = float("-inf")
        self._next = landed

    @property
    def begun(self) -> bool:
        """Whether a batch may have been inserted in part."""
        return bool(self.batch or self.owed)

    @property
    def wanted(self) -> Stored:
        """The commit that Kafka should hold now."""
        pending = self.batch.range if self.batch else self.owed
        return Stored(pending.first if pending else self.landed, str(pending) if pending else "")

    def append(self, messages: Sequence[Message], end: int | None) -> None:
        """Take messages in order and, where the reader reached it, the end of the partition.

        Transaction markers and aborted records also lie before the end, but are never delivered.
        """
        if messages:
            assert messages[0].offset() >= self._next, f"{messages[0].offset()} read after {self._next}"  # noqa: S101
            self._waiting += messages
            self._next = messages[-1].offset() + 1
            self.held += sum(map(len, messages))
        self._next = max(self._next, end or 0)
        if not (self._waiting or self.batch or self.owed):
            self.landed = self._next

    def cut(self, limits: Limits, now: float) -> None:
        """Cut the next batch if it is due and none is in flight."""
        if self.batch:
            return
        if self.owed:
            if self._next > self.owed.last:
                self._cut(self.owed, sum(message.offset() <= self.owed.last for message in self._waiting), now)
                self.owed = None
        elif self._waiting:
            full = len(self._waiting) >= limits.messages or self.held >= limits.size
            if full or now - self._cut_at >= limits.pause_s:
                count = fill(self._waiting, limits)
                self._cut(Range(self.landed, self._waiting[count - 1].offset()), count, now)

    def done(self) -> None:
        """Note that the batch is in ClickHouse."""
        assert self.batch is not None  # noqa: S101 - the caller's order, not data
        self.landed = self.batch.range.last + 1 if self._waiting else self._next
        self.held -= sum(map(len, self.batch.messages))
        self.batch = None
        self.attempts = 0

    def failed(self, retry_at: float, problem: str) -> None:
        """Note that the batch has to be inserted again."""
        self.attempts += 1
        self.problem = problem
        self.retry_at = retry_at

    def _cut(self, covered: Range, count: int, now: float) -> None:
        self.batch = Batch(self.topic, self.topic_id, self.partition, covered, self._waiting[:count])
        self._waiting = self._waiting[count:]
        self._cut_at = self.retry_at = now
