"""Samples a second of `link_load`, from samples in Kafka to results in Kafka, beside a plain Python consumer."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import orjson
from confluent_kafka import Consumer, TopicPartition

from bench.figure import Figure
from bench.framed import send
from bench.rerun import CORES, METHOD, Took, rerun
from counterflow.base.kafka import Kafka
from counterflow.schemas.definition import datasets, topics
from counterflow.schemas.frame import contract
from counterflow.schemas.frame import rows as of_frame
from counterflow.stack import lifecycle
from counterflow.stack.jobs import cluster
from counterflow.stack.kafka import create_topics
from counterflow.stack.settings import StackSettings
from tests.conftest import free_settings
from tests.support.frames import frames

SAMPLES = 2_000_000
SYSTEMS, LINKS = 8, 100
"""Systems, and links of each: 97 RDMA connections with running counts, a group with its wire and its port, both beside
a physical port, and an interface with deltas."""
BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
LINK = contract("link").columns
TOPIC, WIRES = datasets()["link"].topic, datasets()["link_wire"].topic


def main() -> None:
    """Fill the topic, run the job over it twice (the first warms the JVM), then the peer."""
    parts = StackSettings.from_environment().parts
    with tempfile.TemporaryDirectory(prefix="bench-links-") as home:
        settings = free_settings(Path(home), parts)
        try:
            lifecycle.start(settings, "kafka", "jobmanager", "taskmanager")
            create_topics(settings, topics(partitions=CORES))
            fill(settings.kafka("admin"))
            cold, warm = (rerun(settings, cluster(settings), "link_load", BEGIN) for _ in range(2))
            emit(cold, warm, peer(settings.kafka("admin")))
        finally:
            lifecycle.down(settings)


def emit(cold: Took, warm: Took, plain: float) -> None:
    """Print the measured times, and the figure."""
    print(f"cold {cold}; warm {warm}")
    method = (
        f"{SAMPLES:,} samples of {SYSTEMS} systems with {LINKS} links each, two of them beside a physical port, in "
        f"{CORES} partitions through the job {METHOD}; {warm.cpu_s:.1f} CPU s of the TaskManager."
    )
    text = "one Python process: consume, orjson, rates of four counts; no results written"
    Figure("link_load", round(SAMPLES / warm.seconds), "samples/s", ">= 150000", method, text, round(plain)).emit()


def fill(kafka: Kafka) -> None:
    """Publish the samples and their wires as the agent and `link_wire` do."""
    numbered = ({**row, "seq": seq} for seq, row in enumerate(samples()))
    send(kafka, ((WIRES, wire(row)) for row in samples() if row["link_type"] == "nrg"))
    send(kafka, ((TOPIC, frame) for frame in frames("link", numbered)))


def wire(row: dict[str, Any]) -> dict[str, Any]:
    """Return the result of `link_wire` for a sample of a group."""
    names = ("ts", "system", "link_type", "link")
    return {
        **{name: row[name] for name in names},
        "n": 9,
        "hops": "",
        "physical_port": f"P1-C{int(row['system'][6:]) // 2}-T1",
    }


def samples() -> Iterator[dict[str, Any]]:
    """Yield samples as Db2 Mirror's views, the HMC and nmon provide them."""
    for interval in range(SAMPLES // (SYSTEMS * LINKS)):
        before, ts = (f"{BEGIN + at * timedelta(seconds=15):%FT%TZ}" for at in (interval, interval + 1))
        for system in range(SYSTEMS):
            envelope = {
                "ts": ts,
                "interval_s": 15.0,
                "system": f"system{system:02}",
                "source": "ibmi_tables",
                "agent_id": "bench",
                "collected_at": ts,
            }
            for number in range(LINKS):
                yield {**envelope, **link(system, number, interval, before)}


def link(system: int, number: int, interval: int, before: str) -> dict[str, Any]:
    """Return the figures of a link."""
    value = 1e6 * (1 + number + system)
    if number == 0:
        return {"link": "en0", "link_type": "interface", "out_kb": value, "in_kb": value, "out_packets": 5.0}
    port = {"physical_port": f"P1-C{system // 2}-T1"}
    if number == 1:
        kb = {"out_kb": value, "in_kb": value}
        return {"link": f"2700400{system}", "link_type": "logical_port", **port, **kb, "capacity_pct": 3.0}
    counts = ("out_bytes", "in_bytes", "out_messages", "in_messages")
    return {
        "link": f"10.1.1.{number} 10.1.2.{number}",
        "link_type": "rdma_connection" if number > 2 else "nrg",
        "state": "ACTIVE",
        "connections": 4.0,
        "prev_ts": before,
        **{name: value * (interval + 1) + at for at, name in enumerate(counts)},
        **{f"prev_{name}": value * interval + at for at, name in enumerate(counts)},
    }


def peer(kafka: Kafka) -> float:
    """Return samples/s of the shortest Python program that computes the same rates."""
    consumer = Consumer(
        {
            **kafka.client,
            "group.id": "peer",
            "isolation.level": "read_committed",
            "enable.auto.commit": False,
        }
    )
    consumer.assign([TopicPartition(TOPIC, partition, 0) for partition in range(CORES)])
    counts = ("out_bytes", "in_bytes", "out_messages", "in_messages")
    read = 0
    begin = time.monotonic()
    while read < SAMPLES:
        for message in consumer.consume(10_000, timeout=10):
            for row in of_frame(orjson.loads(message.value() or b""), LINK):
                read += 1
                if "prev_ts" in row:
                    length = datetime.fromisoformat(row["ts"]) - datetime.fromisoformat(row["prev_ts"])
                    [(row[name] - row[f"prev_{name}"]) / length.total_seconds() for name in counts]
    seconds = time.monotonic() - begin
    consumer.close()
    return SAMPLES / seconds


if __name__ == "__main__":
    main()
