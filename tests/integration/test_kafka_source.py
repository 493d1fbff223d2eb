"""`counterflow agent run` with topics that others fill and a real broker: killed, deleted before read, missing."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
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


def line_of(n: int) -> bytes:
    at = BEGIN + timedelta(seconds=n)
    fields = {"write_time": at.isoformat(), "product_code": "km5", "table_name": "mrptcls", "smf_id": f"SYS{n % 3}"}
    return orjson.dumps({**fields, "report_class": f"R{n % 7}", "velocity": n / 7, "io_rate": n / 7})


def parsed(lines: list[bytes]) -> Iterator[Item]:
    """Yield what a plain parse of the lines gives."""
    return formats()["omegamon_jsonl"].parse(io.BytesIO(b"\n".join(lines) + b"\n"), Context("f", UTC))


def test_killed_it_goes_on_and_what_was_deleted_or_is_missing_is_reported_once(
    broker: StackSettings, name: str, tmp_path: Path
) -> None:
    """No line is lost or duplicated, and those of an aborted transaction are not read."""
    topic, missing = f"{name}.statlogs", f"{name}.missing"
    client = broker.kafka("admin").client
    admin = AdminClient({**client})
    admin.create_topics([NewTopic(topic, 1, 1)])[topic].result(20)
    producer = Producer({**client, "transactional.id": f"{name}-writer"})
    producer.init_transactions(PATIENCE_S)

    def produce(*lines: bytes, end: Callable[[float], None] = producer.commit_transaction) -> None:
        producer.begin_transaction()
        for line in lines:
            producer.produce(topic, line)
        producer.flush(20)
        end(PATIENCE_S)

    def agent() -> Agent:
        source = {"kind": "kafka", "name": "odp", "topics": [topic, missing], "run": "r"}
        return Agent(tmp_path, broker, name, source, user="admin", commit={"interval_s": 0.2})

    def has_read(end: int) -> bool:
        at = committed(broker, name).streams.get(StreamId("odp", "kafka", f"{topic}/0"))
        return at is not None and at.position.get("offset", 0) >= end

    lines = [line_of(n) for n in range(4_020)]
    produce(b"no JSON", b"\n".join(lines[:2]), *lines[2:4_000])  # to offset 3999, then the end of the transaction
    produce(line_of(10**6), end=producer.abort_transaction)
    with agent() as first:
        until(lambda: has_read(1), first.log)
        first.process.kill()
    with agent() as second:
        until(lambda: has_read(4_000) and "connected" in second.log.read_text(), second.log)
        second.stop()
    produce(*lines[4_000:])  # offsets 4003 to 4022
    admin.delete_records([TopicPartition(topic, 0, 4_013)])[TopicPartition(topic, 0)].result(20)
    with agent() as third:
        until(lambda: has_read(4_023), third.log)
        third.stop()
    rows = published(broker, name)
    assert_exactly_once(rows, parsed(lines[:4_000] + lines[4_010:]), "counter")
    assert {row["run"] for row in rows} == {"r"}
    noted = sorted((row["file"], row["line"], row["detail"]) for row in rows if row["dataset"] == "quality")
    assert [file for file, *_ in noted] == [missing, f"{topic}/0", f"{topic}/0 from offset 0"]
    assert noted[0][2] == f"the cluster has no topic {missing}, or none that this user may describe"
    assert noted[1][2] == f"{topic}/0: offsets 4000 to 4012 were deleted before they were read (13)"
    assert noted[2][1] == 1
