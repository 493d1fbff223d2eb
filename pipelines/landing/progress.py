"""How far landing is: where partitions end, and whether landing stands still."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from confluent_kafka import IsolationLevel, TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec  # type: ignore[attr-defined] # its stub forgets to export one

from counterflow.pipelines.landing.reader import Key

PROBLEM_S = 30
"""After so long without landing it is a problem that messages wait."""
END_S = 60
"""After so long the lander ends, so that its supervisor starts it again, with a new connection and assignment."""
_TIMEOUT_S = 10.0


def ends(admin: AdminClient, partitions: Iterable[Key], *, committed: bool = True) -> dict[Key, int]:
    """Return where partitions end, as the broker reports it: librdkafka knows only the ends of those that it reads.

    `committed` leaves out open transactions.

    Raises
    ------
    KafkaException : the broker does not answer.
    """
    latest = OffsetSpec.latest()  # type: ignore[no-untyped-call]
    wanted = {TopicPartition(*key): latest for key in partitions}
    if not wanted:
        return {}
    # A client that only lists offsets keeps the leaders that it has learnt. A broker that was fenced since then refuses
    # these, for minutes.
    admin.list_topics(timeout=_TIMEOUT_S)
    level = IsolationLevel.READ_COMMITTED if committed else IsolationLevel.READ_UNCOMMITTED
    answers = admin.list_offsets(wanted, isolation_level=level, request_timeout=_TIMEOUT_S)
    return {(at.topic, at.partition): answer.result().offset for at, answer in answers.items()}


def partitions(admin: AdminClient, topics: Iterable[str]) -> list[Key]:
    """Return every partition of the topics that exist; raises as `ends`."""
    there = admin.list_topics(timeout=_TIMEOUT_S).topics
    return [(name, number) for name in topics if name in there for number in there[name].partitions]


class Stillness:
    """How long each partition that has messages has stood at one offset, by looks a second apart.

    It counts looks, so the time for which the loop waits for an insert is not held against other partitions.
    """

    def __init__(self) -> None:
        self._stood: dict[Key, tuple[int, int]] = {}

    def look(self, waiting: Mapping[Key, int]) -> None:
        """Note the next offset to land of each partition that has messages and no known cause to wait."""
        before = self._stood
        self._stood = {
            key: (offset, before[key][1] + 1 if key in before and before[key][0] == offset else 0)
            for key, offset in waiting.items()
        }

    @property
    def longest_s(self) -> int:
        """Seconds for which the partition that stood longest has stood; 0 where none waits."""
        return max((looks for _, looks in [*self._stood.values()]), default=0)
