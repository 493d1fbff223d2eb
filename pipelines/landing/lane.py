"""What the lander reads, inserts and pauses together. No I/O."""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import dataclass, field

from counterflow.pipelines.landing.batch import Limits, Message, fill
from counterflow.pipelines.landing.writer import Landed

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
    insert: Future[Landed] | None = None
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

    def forget(self) -> None:
        self.messages, self.read, self.size = [], {}, 0
