"""`counterflow agent run` with topics that others fill and a real broker: killed, deleted before read, missing."""

from __future__ import annotations

import io
import itertools
import random
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import orjson
from confluent_kafka import Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]

from counterflow.collectors.agent.checkpoint import StreamId
from counterflow.collectors.formats import formats
from counterflow.collectors.records import Context, Item
from counterflow.stack.settings import StackSettings
from tests.support.agents import Agent, assert_exactly_once, committed, published
from tests.support.waiting import PATIENCE_S, until

BEGIN = datetime(2026, 11, 21, tzinfo=UTC)
FIGURES = ("velocity", "io_rate")


def read_topics(folder: Path, broker: StackSettings, name: str, *topics: str) -> Agent:
    """Start an agent that reads topics of others."""
    source = {"kind": "kafka", "name": "odp", "topics": [*topics], "run": "r"}
    return Agent(folder, broker, name, source, user="admin", commit={"interval_s": 0.2})


def make_topic(broker: StackSettings, topic: str, partitions: int) -> AdminClient:
    admin = AdminClient({**broker.kafka("admin").client})
    admin.create_topics([NewTopic(topic, partitions, 1)])[topic].result(20)
    return admin


def produce(broker: StackSettings, topic: str, lines: list[bytes]) -> None:
    producer = Producer({**broker.kafka("admin").client})
    for line in lines:
        producer.produce(topic, line)
    assert producer.flush(20) == 0


def line_of(n: int, table: str = "mrptcls") -> bytes:
    at = BEGIN + timedelta(seconds=n)
    fields = {"write_time": at.isoformat(), "product_code": "km5", "table_name": table, "smf_id": f"SYS{n % 3}"}
    return orjson.dumps({**fields, "report_class": f"R{n % 7}", **dict.fromkeys(FIGURES, n / 7)})


def is_read(broker: StackSettings, name: str, *ends: tuple[str, int, int]) -> bool:
    """Return whether the committed offsets cover (topic, partition, end)."""
    streams = committed(broker, name).streams
    places = {(topic, p): streams.get(StreamId("odp", "kafka", f"{topic}/{p}")) for topic, p, _ in ends}
    return all((at := places[topic, p]) and at.position.get("offset", 0) >= end for topic, p, end in ends)


def parsed(lines: list[bytes]) -> Iterator[Item]:
    """Yield what a plain parse of the lines gives."""
    return formats()["omegamon_jsonl"].parse(io.BytesIO(b"\n".join(lines) + b"\n"), Context("f", UTC))


def test_killed_at_any_moment_it_goes_on_with_no_line_lost_or_duplicated(
    broker: StackSettings, name: str, tmp_path: Path
) -> None:
    """Two topics, one made while the agent runs; records of an aborted transaction are not read."""
    one, other = f"{name}.km5.mrptcls", f"{name}.km5.later"
    make_topic(broker, one, 3)
    chance, done, lines = random.Random(7), threading.Event(), list[bytes]()

    def write() -> None:
        producer = Producer({**broker.kafka("admin").client, "transactional.id": f"{name}-writer"})
        producer.init_transactions(PATIENCE_S)
        for n in itertools.count():
            batch = [line_of(n * 100 + i) for i in range(chance.randrange(1, 40))]
            producer.begin_transaction()
            for line in batch:
                producer.produce(one, line, partition=chance.randrange(3))
            if n % 4 == 3:
                producer.flush(20)
                producer.abort_transaction(PATIENCE_S)
            else:
                producer.commit_transaction(PATIENCE_S)
                lines.extend(batch)
            if done.wait(0.03):
                return

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for kill in range(3):
            with read_topics(tmp_path, broker, name, one, other) as agent:
                until(partial(is_read, broker, name, (one, kill, 1)), agent.log)  # it is at work
                time.sleep(chance.uniform(0.0, 1.0))
                agent.process.kill()
    finally:
        done.set()
        writer.join()
    make_topic(broker, other, 1)
    several = [line_of(10**6 + n, "later") for n in range(10)]
    produce(broker, other, [b"\n".join(several[:5]), *several[5:]])
    with read_topics(tmp_path, broker, name, one, other) as agent:
        until(lambda: is_read(broker, name, (other, 0, 6)), agent.log)
        # The last offsets of the other are transaction markers, which no consumer reads: the lines are counted.
        wanted = len(FIGURES) * len(lines + several)
        until(lambda: len(published(broker, name, "counter")) >= wanted, agent.log)
        agent.stop()
    rows = published(broker, name)
    assert_exactly_once(rows, parsed(lines + several), "counter")
    assert {row["run"] for row in rows} == {"r"}


def test_what_was_deleted_or_is_missing_is_reported_once_and_the_rest_is_read(
    broker: StackSettings, name: str, tmp_path: Path
) -> None:
    topic, missing = f"{name}.statlogs", f"{name}.missing"
    admin = make_topic(broker, topic, 1)
    lines = [line_of(n) for n in range(30)]
    produce(broker, topic, [*lines[:10], b"no JSON"])
    with read_topics(tmp_path, broker, name, topic, missing) as agent:
        until(lambda: is_read(broker, name, (topic, 0, 11)), agent.log)
        agent.stop()
    produce(broker, topic, lines[10:])
    admin.delete_records([TopicPartition(topic, 0, 21)])[TopicPartition(topic, 0)].result(20)
    with read_topics(tmp_path, broker, name, topic, missing) as agent:
        until(lambda: is_read(broker, name, (topic, 0, 31)), agent.log)
        agent.stop()
    rows = published(broker, name)
    assert_exactly_once(rows, parsed(lines[:10] + lines[20:]), "counter")
    anomalies = {
        row["file"]: (row["reason"], row["line"], row["detail"]) for row in rows if row["dataset"] == "quality"
    }
    assert anomalies.pop(missing)[2] == f"the cluster has no topic {missing}, or none that this user may describe"
    assert anomalies.pop(f"{topic}/0")[2] == f"{topic}/0: offsets 11 to 20 were deleted before they were read (10)"
    ((file, (reason, line, _)),) = anomalies.items()
    assert (file, reason, line) == (f"{topic}/0 from offset 0", "unknown_line", 11)
    assert len([row for row in rows if row["dataset"] == "quality"]) == 3
