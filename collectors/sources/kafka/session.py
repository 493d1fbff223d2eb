"""One consumer of one cluster, held as long as it lives; librdkafka connects to the brokers, again and again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, TopicPartition

from counterflow.base.errors import CounterflowError
from counterflow.base.kafka import Kafka
from counterflow.base.kafka_trouble import Trouble
from counterflow.collectors.sources.polling.session import ErrorKind, SessionError

TIMEOUT_S = 10.0
"""How long the cluster may take to return its topics or offsets."""
FETCHED_KB = 16_384
"""KiB of messages that are fetched ahead."""


class Partition(NamedTuple):
    """A partition of a topic."""

    topic: str
    partition: int

    @property
    def text(self) -> str:
        """Its name for people, and the name of its stream."""
        return f"{self.topic}/{self.partition}"


class Range(NamedTuple):
    """The offsets that a partition holds: the first, and the one behind the last."""

    begin: int
    end: int


class KafkaSession:
    """The consumer. `number` counts the consumers made; where no broker answers, `SessionError` LOST is raised."""

    def __init__(self, kafka: Kafka) -> None:
        """Secrets are read at each connect."""
        self.number = 0
        self.cluster = ""
        self._kafka = kafka
        self._trouble = Trouble(kafka)
        self._consumer: Consumer | None = None

    def open(self) -> None:
        """Connect, unless connected."""
        if self._consumer is not None:
            return
        self._trouble.clear()
        try:
            settings = {
                **self._kafka.client,
                "group.id": "counterflow-agent",  # wanted by librdkafka; nothing is committed to it
                "enable.auto.commit": False,
                "enable.auto.offset.store": False,
                "isolation.level": "read_committed",
                "auto.offset.reset": "error",
                "queued.max.messages.kbytes": FETCHED_KB,
                "error_cb": self._trouble,
                "log_level": 0,
            }
            consumer = Consumer(settings)
        except (CounterflowError, KafkaException, ValueError) as error:
            raise SessionError(ErrorKind.LOST, self.text(error)) from None
        try:
            metadata = consumer.list_topics(timeout=TIMEOUT_S)
        except KafkaException as error:
            consumer.close()
            raise SessionError(ErrorKind.LOST, str(self._trouble) or self.text(error)) from None
        self.cluster = str(metadata.cluster_id or "")
        self._consumer, self.number = consumer, self.number + 1

    def close(self) -> None:
        consumer, self._consumer = self._consumer, None
        if consumer is not None:
            consumer.close()

    def partitions(self, topics: Sequence[str]) -> dict[str, list[Partition]]:
        """Return the partitions of each topic; none where the cluster has no such topic, or none that we may see."""
        there = self._call(lambda consumer: consumer.list_topics(timeout=TIMEOUT_S)).topics
        return {t: [Partition(t, p) for p in sorted(there[t].partitions)] if t in there else [] for t in topics}

    def range(self, place: Partition) -> Range:
        """Return what a partition holds."""
        found = self._call(lambda c: c.get_watermark_offsets(TopicPartition(*place), timeout=TIMEOUT_S))
        return Range(*found)

    def assign(self, offsets: dict[Partition, int]) -> None:
        """Read from these places and offsets from now on."""
        self._call(lambda consumer: consumer.assign([TopicPartition(*at, offset) for at, offset in offsets.items()]))

    def poll(self, timeout_s: float) -> Message | None:
        """Return the next message or error of a partition, or None where none comes in time; LOST beyond repair."""
        message: Message | None = self._call(lambda consumer: consumer.poll(timeout_s))
        if message is not None and (error := message.error()) is not None and error.fatal():
            self.close()
            raise SessionError(ErrorKind.LOST, error.str())
        return message

    def text(self, error: BaseException) -> str:
        """Return the content of an error; librdkafka keeps secrets to itself."""
        cause = error.args[0] if error.args and isinstance(error.args[0], KafkaError) else None
        return cause.str() if cause else " ".join(str(error).split()) or type(error).__name__

    def _call(self, operation: Callable[[Consumer], Any]) -> Any:
        if self._consumer is None:
            raise SessionError(ErrorKind.LOST, "not connected")
        try:
            return operation(self._consumer)
        except KafkaException as error:
            self.close()
            raise SessionError(ErrorKind.LOST, str(self._trouble) or self.text(error)) from None
