"""What an agent has published, read back from Kafka."""

from __future__ import annotations

import contextlib
from typing import Any

import orjson
from confluent_kafka import Consumer, TopicPartition

from counterflow.schemas.definition import datasets
from counterflow.stack.settings import StackSettings

Rows = list[dict[str, Any]]


def published(broker: StackSettings, agent_id: str) -> Rows:
    """All committed records of an agent with their `dataset`, in order of `seq`; what is no JSON is not theirs."""
    settings = {"bootstrap.servers": broker.kafka_bootstrap, "group.id": "test", "enable.auto.commit": False}
    consumer = Consumer({**settings, "isolation.level": "read_committed", "enable.partition.eof": True})
    wanted = [d.topic for d in datasets().values() if d.role == "counter"]
    there = consumer.list_topics(timeout=10).topics
    left = {(topic, p) for topic in wanted for p in there[topic].partitions}
    consumer.assign([TopicPartition(topic, p, 0) for topic, p in left])
    rows: Rows = []
    try:
        while left:
            message = consumer.poll(20)
            assert message is not None, "the end of a topic is not readable: a transaction was left open"
            if message.error():
                left.discard((message.topic() or "", message.partition() or 0))
                continue
            with contextlib.suppress(orjson.JSONDecodeError):
                row = orjson.loads(message.value() or b"")
                if isinstance(row, dict) and row.get("agent_id") == agent_id:
                    rows.append({**row, "dataset": (message.topic() or "").split(".")[1]})
    finally:
        consumer.close()
    return sorted(rows, key=lambda row: row["seq"])
