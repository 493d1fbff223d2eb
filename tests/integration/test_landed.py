"""What a rerun reads from the tables: the rows that landed last, in frames, between offsets of a topic."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import orjson
import pytest
from confluent_kafka import Consumer, Message, TopicPartition
from confluent_kafka.admin import AdminClient

from counterflow.base.clickhouse import ClickHouse
from counterflow.base.errors import CounterflowError
from counterflow.pipelines.jobs import Period
from counterflow.pipelines.jobs.landed import Tables
from counterflow.schemas.definition import RERUNS, datasets, topics
from counterflow.schemas.frame import contract, rows
from counterflow.stack.kafka import create_topics
from counterflow.stack.settings import StackSettings
from tests.support.agents import until
from tests.support.tables import empty_tables, insert

COLUMNS = {"ts", "interval_s", "system", "disk", "leaf", "reads", "writes"}
PERIOD = Period(datetime(2026, 5, 4, 10, tzinfo=UTC), datetime(2026, 5, 4, 11, tzinfo=UTC))


@pytest.fixture
def client(clickhouse: StackSettings) -> Iterator[ClickHouse]:
    with empty_tables(clickhouse) as admin:
        yield admin


@pytest.fixture
def tables(client: ClickHouse, kafka: StackSettings) -> Tables:
    create_topics(kafka, topics())
    return Tables(client, kafka.kafka("flink"))


def disk(minute: int, name: str = "hdisk0", **columns: Any) -> dict[str, Any]:
    """Return a row of the table, read when its interval ended."""
    ts = f"2026-05-04T10:{minute:02}:00.000Z"
    envelope = {"ts": ts, "interval_s": 60.0, "system": "SYS1", "source": "nmon", "agent_id": "a", "seq": 1}
    own = {"disk": name, "device_type": "disk", "leaf": True, "reads": float(minute)}
    return {**envelope, "collected_at": ts, **own, **columns}


def read(kafka: StackSettings, found: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the messages between the offsets that Flink is given, in committed transactions."""

    def offsets(option: str) -> dict[int, int]:
        pairs = (one.split(",") for one in found[option].split(";"))
        return {int(partition.split(":")[1]): int(offset.split(":")[1]) for partition, offset in pairs}

    begins, ends = offsets("scan.startup.specific-offsets"), offsets("scan.bounded.specific-offsets")
    consumer = Consumer(
        {**kafka.kafka("flink").client, "group.id": "flink.test", "isolation.level": "read_committed"}
        | {"enable.partition.eof": True}
    )
    messages: list[Message] = []
    try:
        for partition in (one for one, end in ends.items() if begins[one] < end):
            consumer.assign([TopicPartition(found["topic"], partition, begins[partition])])
            while (message := consumer.poll(30)) is not None and not message.error():
                if (message.offset() or 0) < ends[partition]:
                    messages.append(message)
    finally:
        consumer.close()
    return [orjson.loads(message.value() or b"") for message in messages]


def disks(kafka: StackSettings, tables: Tables, period: Period = PERIOD) -> list[dict[str, Any]]:
    """Return the rows of disks that a rerun of the period reads."""
    found = tables.publish([(datasets()["disk"], COLUMNS | {"apart_s"})], period)
    frames = read(kafka, found["disk"])
    for frame in frames:
        assert contract("disk").distinct(frame) == frame["frame_rows"]
    columns = frozenset(datasets()["disk"].columns)
    read_back = [row for frame in frames for row in rows({**frame, "seq": 0}, columns)]
    return sorted(
        ({name: value for name, value in row.items() if name != "seq"} for row in read_back),
        key=lambda row: (row["system"], row["ts"], row["disk"]),
    )


def known(row: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name in COLUMNS and value is not None}


def test_of_two_rows_of_a_key_the_one_read_last_is_computed_from(
    client: ClickHouse, kafka: StackSettings, tables: Tables
) -> None:
    first = disk(1, reads=10.0, writes=1.0)
    again = disk(1, reads=20.0, writes=None, collected_at="2026-05-04T12:00:00.000Z")
    insert(client, "disk", again)
    insert(client, "disk", first, disk(2, 'a "quoted\\" name\n', interval_s=None, reads=0.1 + 0.2))
    assert disks(kafka, tables) == [
        known(again),
        known(disk(2, 'a "quoted\\" name\n', interval_s=None, reads=0.1 + 0.2)) | {"interval_s": None},
    ]


def test_a_rerun_reads_the_rows_of_its_period_and_system_alone(
    client: ClickHouse, kafka: StackSettings, tables: Tables
) -> None:
    inside = [disk(0), disk(59)]
    insert(client, "disk", *inside, disk(1, system="SYS2"))
    insert(client, "disk", disk(1, ts="2026-05-04T09:59:59.999Z"), disk(1, ts="2026-05-04T11:00:00.000Z"))
    assert disks(kafka, tables, PERIOD._replace(system="SYS1")) == [known(row) for row in inside]
    assert disks(kafka, tables, PERIOD._replace(system="SYS3")) == []
    ends = [row["system"] for row in disks(kafka, tables)]
    assert ends == ["SYS1", "SYS1", "SYS2"]


def test_a_rerun_also_reads_what_the_intervals_of_its_period_meet(
    client: ClickHouse, kafka: StackSettings, tables: Tables
) -> None:
    """Work from 9:57 on: processors from then until an interval that begins in the period ends, and no others."""

    def row(ts: str, interval_s: float, **columns: Any) -> dict[str, Any]:
        envelope = {"source": "test", "agent_id": "a", "seq": 1, "collected_at": "2026-05-04T12:00:00.000Z"}
        return {**envelope, "system": "SYS1", "ts": f"2026-05-04T{ts}:00.000Z", "interval_s": interval_s, **columns}

    work = {"workload": "OLTP", "run_id": "", "operation": ""}
    insert(client, "workload", row("10:01", 60.0, **work, prev_ts="2026-05-04T09:57:00.000Z"))
    lengths = {"09:30": 60.0, "09:58": 60.0, "10:30": 60.0, "11:29": 3600.0, "11:30": 60.0}
    processors = {"engine_type": "core", "engine": "all"}
    insert(client, "system_cpu", *(row(ts, length, **processors) for ts, length in lengths.items()))
    ports = {"link_type": "logical_port", "link": "1", "physical_port": "P1"}
    insert(client, "link", row("09:54", 15.0, **ports, system="SYS2"), row("09:50", 15.0, **ports, system="SYS2"))
    wanted = [(datasets()[name], {"ts", "interval_s", "system"}) for name in ("workload", "system_cpu", "link")]
    wanted = [(dataset, columns | set(dataset.key)) for dataset, columns in wanted]
    found = tables.publish(wanted, PERIOD._replace(system="SYS1"))
    ends = {name: sorted(frame["ts"][11:16] for frame in read(kafka, found[name])) for name in found}
    assert ends == {"workload": ["10:01"], "system_cpu": ["09:58", "10:30", "11:29"], "link": ["09:54"]}


def test_an_interval_of_many_rows_is_cut_and_results_are_rows(
    client: ClickHouse, kafka: StackSettings, tables: Tables
) -> None:
    many = [disk(3, f"hdisk{n:04}", reads=float(n)) for n in range(2_500)]
    insert(client, "disk", *many)
    wire = {"link_type": "nrg", "link": "DB", "n": 1, "physical_port": "P1", "system": "SYS1", "interval_s": 15.0}
    insert(client, "link_wire", {**wire, "ts": "2026-05-04T10:00:15.000Z"})
    assert disks(kafka, tables) == [known(row) for row in many]
    found = tables.publish([(datasets()["link_wire"], {"ts", "system", "link", "physical_port"})], PERIOD)
    result = {"ts": "2026-05-04T10:00:15.000Z", "system": "SYS1", "link": "DB", "physical_port": "P1"}
    assert read(kafka, found["link_wire"]) == [result]


def test_a_broker_that_lacks_the_topic_is_named(client: ClickHouse, kafka: StackSettings) -> None:
    admin = AdminClient(kafka.kafka("admin").client)
    if RERUNS in admin.list_topics(timeout=10).topics:
        admin.delete_topics([RERUNS])[RERUNS].result(30)
        until(lambda: RERUNS not in admin.list_topics(timeout=10).topics)
    with pytest.raises(CounterflowError, match=f"lacks the topic {RERUNS}") as raised:
        Tables(client, kafka.kafka("flink")).publish([(datasets()["disk"], COLUMNS)], PERIOD)
    assert "counterflow up" in (raised.value.hint or "")


def test_of_two_reruns_the_later_goes_on(client: ClickHouse, kafka: StackSettings, tables: Tables) -> None:
    insert(client, "disk", disk(1))

    class Overtaken(ClickHouse):
        """A client with which another rerun begins while this one reads."""

        def stream(self, *arguments: Any, **named: Any) -> Any:
            assert disks(kafka, tables) == [known(disk(1))]
            return super().stream(*arguments, **named)

    with (
        Overtaken(kafka.clickhouse_url, "admin", kafka.clickhouse_password("admin")) as overtaken,
        pytest.raises(CounterflowError, match="another rerun has begun") as raised,
    ):
        Tables(overtaken, tables.kafka).publish([(datasets()["disk"], COLUMNS)], PERIOD)
    assert raised.value.hint == "repeat this one when the other has ended"
    assert RERUNS not in raised.value.message
