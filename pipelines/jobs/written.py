"""Reads a topic's end offsets, and the keys written since then."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import orjson
from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

from counterflow.base.errors import CounterflowError
from counterflow.base.kafka import Kafka
from counterflow.base.kafka_trouble import Trouble


def ends(kafka: Kafka, topic: str) -> dict[int, int]:
    """Return the end offset of each partition; raises `CounterflowError` when the broker does not answer."""
    trouble = Trouble(kafka)
    consumer = _consumer(kafka, trouble)
    try:
        partitions = consumer.list_topics(topic, timeout=10).topics[topic].partitions
        marks = {p: consumer.get_watermark_offsets(TopicPartition(topic, p), timeout=10) for p in partitions}
        return {partition: high for partition, (_, high) in marks.items()}
    except KafkaException as error:
        consumer.poll(0)  # delivers the cause to `trouble`
        why = str(trouble) or error.args[0].str()
        raise CounterflowError(f"Kafka at {kafka.bootstrap}, topic {topic}: {why}") from None
    finally:
        consumer.close()


def from_offsets(offsets: Mapping[int, int]) -> dict[str, str]:
    """Return the options with which Flink reads what was written to a topic since these offsets."""
    return {"scan.startup.mode": "specific-offsets", "scan.startup.specific-offsets": listed(offsets)}


def listed(offsets: Mapping[int, int]) -> str:
    """Return the offsets of partitions as Flink's connector takes them."""
    return ";".join(f"partition:{partition},offset:{offset}" for partition, offset in offsets.items())


def keys_since(kafka: Kafka, topic: str, offsets: Mapping[int, int]) -> Iterator[dict[str, Any]]:
    """Yield each distinct key written since these offsets, up to now."""
    consumer = _consumer(kafka, Trouble(kafka))
    seen: set[bytes] = set()
    try:
        consumer.assign([TopicPartition(topic, partition, offset) for partition, offset in offsets.items()])
        reading = set(offsets)
        while reading:
            for message in consumer.consume(10_000, timeout=0.2):
                error = message.error()
                if error and error.code() == KafkaError._PARTITION_EOF:
                    reading.discard(message.partition())
                elif error:
                    raise KafkaException(error)
                elif (key := message.key() or b"") not in seen:
                    seen.add(key)
                    yield orjson.loads(key)
    finally:
        consumer.close()


def _consumer(kafka: Kafka, trouble: Trouble) -> Consumer:
    return Consumer(
        {
            **kafka.client,
            "group.id": "counterflow.jobs",  # required by the client; nothing is committed under it
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "isolation.level": "read_committed",
            "auto.offset.reset": "error",
            "log_level": 0,  # relevant errors are raised
            "error_cb": trouble,
        }
    )
