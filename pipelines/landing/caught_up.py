"""Decides when all that the topics held at the start has landed, by this lander and by others of its group."""

from __future__ import annotations

import time
from collections.abc import Container, Mapping

import structlog
from confluent_kafka import Consumer, KafkaException, TopicPartition

from counterflow.pipelines.landing.lane import Key

_TIMEOUT_S = 10.0

log = structlog.get_logger()


class CaughtUp:
    """The ends of the partitions at the start, and whether landing has reached them."""

    def __init__(self, consumer: Consumer, ends: Mapping[Key, int]) -> None:
        self._consumer = consumer
        self._ends = ends
        self._asked_at = float("-inf")

    def reached(self, landed: Mapping[Key, int], paused: Container[str]) -> bool:
        """Return whether everything landed but that of `paused` topics.

        Parameters
        ----------
        landed : the next offset to land of the partitions of this lander, which is in the group.
        """
        elsewhere = {}
        for key, end in self._ends.items():
            if not end or key[0] in paused:
                continue
            if key not in landed:
                elsewhere[key] = end
            elif landed[key] < end:
                return False
        return not elsewhere or self._landed_elsewhere(elsewhere)

    def _landed_elsewhere(self, ends: Mapping[Key, int]) -> bool:
        """Return whether the owners of other partitions have committed that these landed; ask once a second."""
        now = time.monotonic()
        if now - self._asked_at < 1:
            return False
        self._asked_at = now
        try:
            found = self._consumer.committed([TopicPartition(*key) for key in ends], timeout=_TIMEOUT_S)
        except KafkaException as error:
            log.warning("kafka", error=error.args[0].str())
            return False
        return all(not one.error and one.offset >= ends[one.topic, one.partition] for one in found)
