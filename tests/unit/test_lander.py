"""The lander's loop, against the broker of librdkafka, and landing that stands still."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Sequence
from typing import Any
from unittest.mock import patch

import pytest
from confluent_kafka import KafkaError, KafkaException, Producer

from counterflow.base.kafka import Kafka
from counterflow.pipelines.landing import lander as landing
from counterflow.pipelines.landing import metrics, progress
from counterflow.pipelines.landing.lander import Lander
from counterflow.pipelines.landing.progress import END_S, PROBLEM_S, Stillness, ends
from counterflow.pipelines.landing.reader import Key, Limits
from counterflow.pipelines.landing.writer import Writer
from counterflow.schemas.definition import datasets
from tests.property.test_landing import Server, a_frame

TOPIC = datasets()["disk"].topic
COUNT = 150


class OneAtATime(Server):
    """The lander inserts two batches at a time."""

    lock = threading.Lock()

    def post(self, sql: str, body: Sequence[bytes], settings: dict[str, object]) -> bytes:
        with self.lock:
            return super().post(sql, body, settings)


def test_every_row_lands_or_is_a_dead_letter_through_failures_with_memory_full() -> None:
    chance = random.Random(3)
    broker = Producer({"test.mock.num.brokers": 1, "log_level": 0})
    [address] = [f"{one.host}:{one.port}" for one in broker.list_topics(TOPIC, timeout=10).brokers.values()]
    poison = [[chance.random() < 0.01 for _ in range(chance.choice((1, 2, 5)))] for _ in range(COUNT)]
    producer = Producer({"bootstrap.servers": address, "log_level": 0})
    for number, bad in enumerate(poison):
        producer.produce(TOPIC, a_frame(100 * number, bad), partition=number % 4)
    assert producer.flush(10) == 0

    server = OneAtATime(chance, 0.1)
    server.left = 8
    tables = {TOPIC: "disk"}
    refusals = [KafkaException(KafkaError(KafkaError.NOT_LEADER_FOR_PARTITION))]  # of topics that were just created

    def ends_of_new_topics(*arguments: Any, **options: Any) -> dict[Key, int]:
        if refusals:
            raise refusals.pop()
        return ends(*arguments, **options)

    counted = measured()
    with patch.object(landing, "_HELD", 2_000), patch.object(progress, "ends", ends_of_new_topics):
        lander = Lander(Kafka(bootstrap=address), "one", Writer(server, tables), tables, Limits(7, pause_s=0.01))  # type: ignore[arg-type]
        lander.run(threading.Event(), until_caught_up=True)

    good = {100 * number + place for number, bad in enumerate(poison) for place, is_bad in enumerate(bad) if not is_bad}
    assert server.left < 8, "some inserts failed"
    assert {row["seq"] for row in server.tables["disk"].values()} == good
    assert len(server.tables["deadletter"]) == sum(map(sum, poison)) > 0
    assert lander.problems() == []
    landed, dead, retried = (now - before for now, before in zip(measured(), counted, strict=True))
    assert (landed, dead) == (len(good), len(server.tables["deadletter"]))
    assert retried > 0
    newest = metrics.REGISTRY.get_sample_value("counterflow_lander_last_success_timestamp_seconds", {"dataset": "disk"})
    assert newest == pytest.approx(time.time(), abs=60)


def measured() -> list[float]:
    """Return the metrics of the lander: rows, dead letters and retries of this process until now."""
    refused = {"reason": "CANNOT_PARSE_INPUT_ASSERTION_FAILED"}
    of = {"rows_total": {}, "deadletters_total": refused, "retries_total": {"code": "ReadTimeout"}}
    return [
        metrics.REGISTRY.get_sample_value(f"counterflow_lander_{name}", {"dataset": "disk", **labels}) or 0
        for name, labels in of.items()
    ]


ONE, OTHER = ("counterflow.disk.v2", 0), ("counterflow.disk.v2", 1)


def test_a_partition_that_waits_at_one_offset_stands_still() -> None:
    stillness = Stillness()
    assert stillness.longest_s == 0
    for second in range(END_S + 2):
        stillness.look({ONE: 7, OTHER: second})  # the other lands
        assert stillness.longest_s == second
    assert PROBLEM_S < END_S < stillness.longest_s


def test_what_lands_or_has_a_known_cause_to_wait_does_not_stand_still() -> None:
    stillness = Stillness()
    for _ in range(3):
        stillness.look({ONE: 7, OTHER: 7})
    stillness.look({ONE: 8, OTHER: 7})
    assert stillness.longest_s == 3
    stillness.look({ONE: 8})  # the other has no message left, or waits for ClickHouse
    assert stillness.longest_s == 1
    stillness.look({ONE: 9, OTHER: 7})  # and waits from now on
    assert stillness.longest_s == 0
    stillness.look({ONE: 10, OTHER: 7})
    assert stillness.longest_s == 1
