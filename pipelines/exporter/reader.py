"""Reads the topics passively: it joins no consumer group and commits nothing."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping

import structlog
from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

from counterflow.base.kafka import Kafka
from counterflow.pipelines.exporter.metrics import ResultMetrics

_READ = 1_000  # messages at a time
_LOOK_S = 15.0  # between two looks for new partitions, which also show whether Kafka is up
_AGAIN_S = 1.0  # until the next one where it was not
_TIMEOUT_S = 5.0

Key = tuple[str, int]

log = structlog.get_logger()


def read(
    kafka: Kafka,
    topics: Mapping[str, str],
    since_s: float,
    results: ResultMetrics,
    stop: threading.Event,
    caught_up: Callable[[], None],
) -> None:
    """Feed `results` from the topics until `stop`; call `caught_up` once, when everything they held is read.

    Parameters
    ----------
    kafka : how to reach Kafka.
    topics : dataset by topic; a topic that does not exist yet is read once it does.
    since_s : read records written since then, seconds since 1970. A record written earlier is of an earlier interval.
    """
    consumer = Consumer(
        {
            **kafka.client,
            "group.id": "counterflow.exporter",  # required by the client, unused
            "isolation.level": "read_committed",
            "enable.auto.commit": False,
            "enable.auto.offset.store": False,
            "enable.partition.eof": True,
            "auto.offset.reset": "earliest",
            "queued.max.messages.kbytes": 8_192,
            "error_cb": lambda error: log.warning("kafka", error=error.str()),
        }
    )
    assigned: set[Key] = set()
    behind: set[Key] = set()
    looked_at: float | None = None
    waiting = True
    try:
        while not stop.is_set():
            if looked_at is None or time.monotonic() - looked_at >= (_LOOK_S if results.kafka_up else _AGAIN_S):
                results.kafka_up = _look(consumer, topics, since_s, assigned, behind)
                looked_at = time.monotonic()
            for message in consumer.consume(_READ, 0.5):
                key = message.topic() or "", message.partition() or 0
                if (error := message.error()) is None:
                    results.observe(topics[key[0]], message.value())
                elif error.code() == KafkaError._PARTITION_EOF:
                    behind.discard(key)
                else:
                    log.warning("kafka", topic=key[0], error=error.str())
            if waiting and results.kafka_up and not behind:
                waiting = False
                log.info("caught up", partitions=len(assigned))
                caught_up()
    finally:
        consumer.close()


def _look(consumer: Consumer, topics: Mapping[str, str], since_s: float, assigned: set[Key], behind: set[Key]) -> bool:
    """Start reading new partitions; returns whether Kafka answered."""
    try:
        found = consumer.list_topics(timeout=_TIMEOUT_S).topics
        new = {(name, number) for name in topics if name in found for number in found[name].partitions} - assigned
        if new:
            consumer.incremental_assign(_begin(consumer, new, since_s))
            assigned |= new
            behind |= new
    except KafkaException as error:
        log.warning("kafka does not answer", error=error.args[0].str())
        return False
    return True


def _begin(consumer: Consumer, partitions: set[Key], since_s: float) -> list[TopicPartition]:
    """Return the offset of each partition at `since_s`."""
    times = [TopicPartition(*key, int(since_s * 1000)) for key in sorted(partitions)]
    begins = consumer.offsets_for_times(times, timeout=_TIMEOUT_S)
    for begin in begins:
        if begin.error:
            raise KafkaException(begin.error)
        if begin.offset < 0:  # nothing was written since: start at the current end
            key = TopicPartition(begin.topic, begin.partition)
            _, begin.offset = consumer.get_watermark_offsets(key, timeout=_TIMEOUT_S) or (0, 0)
    return begins
