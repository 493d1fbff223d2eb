"""Rows landed a second, beside a plain consume-and-POST loop; bytes of a value on disk, everything included."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from datetime import datetime

import orjson
from confluent_kafka import Consumer, Producer

from bench.figure import Figure
from bench.records import framed, records
from bench.stack import running
from counterflow.base.clickhouse import ClickHouse
from counterflow.collectors.agent.publisher import PRODUCER
from counterflow.pipelines.landing.rollups import refresh
from counterflow.pipelines.landing.writer import SETTINGS
from counterflow.schemas.clickhouse_insert import insert
from counterflow.schemas.definition import datasets
from counterflow.stack.settings import StackSettings

ROWS = 1_500_000
SYSTEMS, DISKS = 20, 50
INTERVAL_S = 15
DISK = datasets()["disk"]
MEASURED = [name for name, column in DISK.columns.items() if column.type == "Float64"]
TABLES = ("disk", "metric_1h", "ledger")


def main() -> None:
    """Publish and land rows, then land them with the peer, into emptied tables."""
    with running("kafka", "clickhouse") as (settings, _), settings.clickhouse("admin") as client:
        empty(client)
        size, values = publish(settings)
        lander = ROWS / _land(settings)
        landed = client.rows("SELECT count() AS n FROM counterflow.disk FINAL")[0]["n"]
        if landed != ROWS:
            raise AssertionError(f"{landed} rows of {ROWS} landed")
        refresh(client)
        stored = {table: _stored_bytes(client, table) / values for table in TABLES}
        empty(client)
        loop = ROWS / _loop(settings)
    method = (
        f"{ROWS:,} disk records of {size / ROWS:.0f} bytes in four partitions, transactions of 50,000, rollup and "
        "ledger on; `counterflow dev land --until-caught-up` from its assignment to its last commit, wall, "
        f"{os.cpu_count()} cores shared with broker and engine. Peer: one thread that consumes 50,000, joins, POSTs "
        "and commits, without checks or overlap, into the same tables emptied."
    )
    Figure("land", round(lander), "rows/s", ">= 400000", method, "consume-and-POST loop", round(loop)).emit()
    method = (
        "Bytes on disk, envelope, marks and index included, after OPTIMIZE FINAL (system.parts), over the "
        f"{values / ROWS:.1f} measured values a row that are not null: "
        f"{', '.join(f'{table} {each:.2f}' for table, each in stored.items())}; {SYSTEMS} systems of {DISKS} disks "
        f"for {ROWS / SYSTEMS / DISKS * INTERVAL_S / 3600:.0f} hours, one decimal as nmon prints, a third of the "
        "disks idle, the rest drifting around a load."
    )
    name = f"stored value at {INTERVAL_S} s, table, rollup and ledger"
    Figure(name, round(sum(stored.values()), 2), "bytes", "<= 2", method).emit()


def publish(settings: StackSettings) -> tuple[int, int]:
    """Return the bytes and the measured values that were published."""
    producer = Producer({**settings.kafka("admin").client, **PRODUCER, "transactional.id": "bench"})
    producer.init_transactions()
    producer.begin_transaction()
    size = values = 0
    for number, message in enumerate(framed(records(SYSTEMS, DISKS, ROWS // (SYSTEMS * DISKS), INTERVAL_S)), 1):
        frame = orjson.loads(message.value)
        size += len(message.value)
        values += sum(value is not None for name in MEASURED for value in frame.get(name, ()))
        producer.produce(message.topic, message.value, message.key, int(frame["system"][4:]) % 4)
        producer.poll(0)
        if number % (50_000 // DISKS) == 0:
            producer.commit_transaction()
            producer.begin_transaction()
    producer.commit_transaction()
    return size, values


def _land(settings: StackSettings) -> float:
    """Land everything in the topics by the users' command; return the seconds from assignment to last commit."""
    words = ("counterflow", "dev", "land", "--until-caught-up", "--clickhouse-url", settings.clickhouse_url)
    result = subprocess.run(
        (sys.executable, "-m", *words),
        stderr=subprocess.PIPE,
        check=True,
        env={**os.environ, **settings.environment},
    )
    at = {entry["event"]: entry["timestamp"] for entry in map(json.loads, result.stderr.splitlines())}
    return (datetime.fromisoformat(at["revoked"]) - datetime.fromisoformat(at["assigned"])).total_seconds()


def _loop(settings: StackSettings) -> float:
    """Land the same by a loop without checks; return the seconds that it took."""
    consumer = Consumer(
        {**settings.kafka("admin").client, "group.id": "loop", "isolation.level": "read_committed",
         "auto.offset.reset": "earliest", "enable.auto.commit": False}
    )  # fmt: skip
    consumer.subscribe([DISK.topic])
    begin, done = 0.0, 0
    with settings.clickhouse("lander") as client:
        while done < ROWS:
            messages = consumer.consume(50_000 // DISKS, 1)
            if not messages:
                continue
            begin = begin or time.monotonic()
            body = b"\n".join(message.value() or b"" for message in messages)
            client.post(insert("disk"), body, SETTINGS)
            consumer.commit(asynchronous=False)
            done += len(messages) * DISKS
    seconds = time.monotonic() - begin
    consumer.close()
    return seconds


def _stored_bytes(client: ClickHouse, table: str) -> int:
    client.post(f"OPTIMIZE TABLE counterflow.{table} FINAL")
    parts = f"system.parts WHERE active AND database = 'counterflow' AND table = '{table}'"
    return int(client.rows(f"SELECT sum(bytes_on_disk) AS n FROM {parts}")[0]["n"])


def empty(client: ClickHouse) -> None:
    """Empty the tables."""
    for table in TABLES:
        client.post(f"TRUNCATE TABLE counterflow.{table}")


if __name__ == "__main__":
    main()
