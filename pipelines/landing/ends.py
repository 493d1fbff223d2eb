"""Where partitions end, as the broker states it: librdkafka knows the end only of those that it reads."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from concurrent.futures import Future
from typing import Any

from confluent_kafka import IsolationLevel, TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec  # type: ignore[attr-defined] # its stub forgets to export one

from counterflow.pipelines.landing.lane import Key

_EVERY_S = 5.0
_TIMEOUT_S = 10.0


class Ends:
    """Ends of partitions, without open transactions, requested every five seconds in the background."""

    def __init__(self, admin: AdminClient) -> None:
        self._admin = admin
        self._known: dict[Key, int] = {}
        self._asked: dict[TopicPartition, Future[Any]] = {}
        self._asked_at = 0.0

    def known(self, partitions: Iterable[Key]) -> Mapping[Key, int]:
        """Return the ends that the broker last reported, and request those of `partitions` where it is time."""
        if self._asked and all(answer.done() for answer in self._asked.values()):
            self._known = {
                (partition.topic, partition.partition): answer.result().offset
                for partition, answer in self._asked.items()
                if answer.exception() is None
            }
            self._asked = {}
        wanted = [TopicPartition(*key) for key in partitions]
        if wanted and not self._asked and time.monotonic() - self._asked_at >= _EVERY_S:
            self._asked_at = time.monotonic()
            latest = OffsetSpec.latest()  # type: ignore[no-untyped-call]
            self._asked = self._admin.list_offsets(
                dict.fromkeys(wanted, latest),
                isolation_level=IsolationLevel.READ_COMMITTED,
                request_timeout=_TIMEOUT_S,
            )
        return self._known

    def now(self, topics: Iterable[str]) -> dict[Key, int]:
        """Return the current end of every partition of the topics, including open transactions.

        Raises
        ------
        KafkaException : the broker does not answer.
        """
        there = self._admin.list_topics(timeout=_TIMEOUT_S).topics
        partitions = [
            TopicPartition(name, number) for name in topics if name in there for number in there[name].partitions
        ]
        latest = OffsetSpec.latest()  # type: ignore[no-untyped-call]
        answers = self._admin.list_offsets(dict.fromkeys(partitions, latest))
        return {(at.topic, at.partition): answer.result().offset for at, answer in answers.items()}
