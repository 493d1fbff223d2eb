"""How the lander reaches Kafka: the settings of its consumer, and whether a broker answers."""

from __future__ import annotations

from typing import Any

import orjson
import structlog
from confluent_kafka import KafkaError

from counterflow.base.errors import CounterflowError
from counterflow.base.kafka import Kafka
from counterflow.base.kafka_trouble import Trouble

GROUP = "counterflow.lander"

STOPS = {
    KafkaError._FATAL,
    KafkaError._AUTO_OFFSET_RESET,
    KafkaError.FENCED_INSTANCE_ID,
    KafkaError.GROUP_AUTHORIZATION_FAILED,
    KafkaError.TOPIC_AUTHORIZATION_FAILED,
    KafkaError._AUTHENTICATION,
}
"""Codes of errors after which no waiting helps."""

log = structlog.get_logger()


class Broker:
    """Whether a broker answers, else why not, as librdkafka reports it to `error_cb` and `stats_cb`."""

    def __init__(self, kafka: Kafka, instance_id: str) -> None:
        self._kafka = kafka
        self._instance_id = instance_id
        self._trouble = Trouble(kafka)
        self.answers = True

    @property
    def client(self) -> dict[str, Any]:
        """Settings of a client that reports its errors here."""
        return {**self._kafka.client, "log_level": 0, "error_cb": self._report}

    @property
    def consumer(self) -> dict[str, Any]:
        """Settings of the lander's consumer."""
        return {
            **self.client,
            "stats_cb": self._look,
            "client.id": self._instance_id,
            "group.id": GROUP,
            "group.instance.id": self._instance_id,
            "session.timeout.ms": 10_000,
            "heartbeat.interval.ms": 1_000,
            "partition.assignment.strategy": "cooperative-sticky",
            "isolation.level": "read_committed",
            "enable.auto.offset.store": False,  # an offset is stored once its message landed
            "enable.auto.commit": True,  # also at a rebalance and at the end: what a failed commit left
            "auto.commit.interval.ms": 1_000,
            "enable.partition.eof": True,
            "auto.offset.reset": "error",  # the start is set on assignment; a reset would lose messages silently
            "topic.metadata.refresh.interval.ms": 10_000,
            "statistics.interval.ms": 2_000,
            "queued.max.messages.kbytes": 32_768,
        }

    @property
    def problem(self) -> str:
        """Why no broker answers; empty while one does."""
        return "" if self.answers else "Kafka does not answer" + f": {self._trouble}" * bool(str(self._trouble))

    def failure(self, error: KafkaError) -> CounterflowError:
        """Return the error with which the lander ends because of `error`."""
        if error.code() in (KafkaError.FENCED_INSTANCE_ID, KafkaError._FATAL):
            return CounterflowError(
                f"fenced: another lander started with the id {self._instance_id}: {error.str()}",
                hint="give each lander its own --instance-id",
            )
        why = str(self._trouble) or error.str()
        return CounterflowError(f"Kafka: {why}", hint="counterflow status")

    def _look(self, statistics: str) -> None:
        """Note whether a broker is connected (librdkafka, STATISTICS.md)."""
        brokers = orjson.loads(statistics)["brokers"].values()
        self.answers = any(broker["state"] == "UP" for broker in brokers)
        if self.answers:
            self._trouble.clear()

    def _report(self, error: KafkaError) -> None:
        """Log each cause of trouble once."""
        before = str(self._trouble)
        self._trouble(error)
        if error.fatal() or str(self._trouble) != before:
            log.warning("waiting for Kafka", error=str(self._trouble), fatal=error.fatal())
