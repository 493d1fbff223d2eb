"""Rows a second of each Flink job, from rows in Kafka to results in Kafka, beside a plain Python consumer."""

from __future__ import annotations

import os
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import orjson
import psutil
from confluent_kafka import Consumer, Producer, TopicPartition

from bench.figure import Figure
from counterflow.pipelines import jobs
from counterflow.schemas.definition import datasets, topics
from counterflow.stack import lifecycle, supervision
from counterflow.stack.jobs import cluster
from counterflow.stack.kafka import create_topics
from counterflow.stack.settings import StackSettings
from tests.conftest import free_settings

ROWS = 1_000_000
SYSTEMS, EACH = 10, 100
"""Systems, and disks or processes of each; four processes share a command."""
BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
INPUT = {"disk_load": "disk", "footprint": "job"}


def main() -> None:
    """Fill the topics, run each job over them twice (the first warms the JVM), then the peer."""
    parts = StackSettings.from_environment().parts
    with tempfile.TemporaryDirectory(prefix="bench-jobs-") as home:
        settings = free_settings(Path(home), parts)
        try:
            lifecycle.start(settings, "kafka", "jobmanager", "taskmanager")
            create_topics(settings, topics(partitions=1))
            for dataset in INPUT.values():
                fill(settings.kafka_bootstrap, dataset)
            for name in INPUT:
                cold, warm = measure(settings, name), measure(settings, name)
                emit(name, cold, warm, peer(settings.kafka_bootstrap, INPUT[name]))
        finally:
            lifecycle.down(settings)


def emit(name: str, cold: tuple[float, float, int], warm: tuple[float, float, int], plain: float) -> None:
    """Print what was measured, and the figure."""
    seconds, cpu, results = warm
    print(
        f"{name}: {results:,} results; cold {cold[0]:.1f} s, {cold[1]:.1f} CPU s; warm {seconds:.1f} s, {cpu:.1f} CPU s"
    )
    method = (
        f"{ROWS:,} rows of {SYSTEMS} systems in one partition through the job in bounded mode at parallelism 1, "
        f"duration of the Flink job with its start (wall), second run on the same TaskManager; {cpu:.1f} CPU s of "
        f"the TaskManager; broker on the same {os.cpu_count()} cores."
    )
    text = "one Python process: consume, orjson, keep first, sum by interval; no state kept, no results written"
    Figure(name, round(ROWS / seconds), "rows/s", ">= 80000", method, text, round(plain)).emit()


def measure(settings: StackSettings, name: str) -> tuple[float, float, int]:
    """Return seconds of the Flink job, CPU seconds of the TaskManager, and results written."""
    manager = psutil.Process(supervision.states(settings)["taskmanager"].pid)
    before = manager.cpu_times()
    period = jobs.Period(BEGIN, BEGIN + timedelta(days=366))
    written = jobs.rerun(cluster(settings), period, jobs.chosen([name]))
    after = manager.cpu_times()
    found = httpx.get(f"{settings.flink_url}/jobs/overview", trust_env=False).raise_for_status().json()["jobs"]
    newest = max((job for job in found if job["name"] == f"{name} rerun"), key=lambda job: int(job["start-time"]))
    cpu = after.user + after.system - before.user - before.system
    return newest["duration"] / 1000, cpu, written[name]


def fill(bootstrap: str, dataset: str) -> None:
    """Publish the rows of a dataset as the agent does: keyed by system, interval by interval."""
    producer = Producer(
        {
            "bootstrap.servers": bootstrap,
            "linger.ms": 20,
            "compression.type": "lz4",
            "queue.buffering.max.messages": 2 * SYSTEMS * EACH * 100,
        }
    )
    topic = datasets()[dataset].topic
    for seq, row in enumerate(rows(dataset)):
        while True:
            try:
                producer.produce(topic, orjson.dumps({**row, "seq": seq}), row["system"])
                break
            except BufferError:
                producer.poll(0.1)
    if left := producer.flush(60):
        raise RuntimeError(f"{left} rows of {dataset} were not taken")


def rows(dataset: str) -> Iterator[dict[str, Any]]:
    """Yield rows as nmon on AIX gives them."""
    for interval in range(ROWS // (SYSTEMS * EACH)):
        ts = f"{BEGIN + interval * timedelta(seconds=15):%FT%TZ}"
        for system in range(SYSTEMS):
            envelope = {
                "ts": ts,
                "interval_s": 15.0,
                "system": f"aix{system:02}",
                "source": "nmon",
                "agent_id": "bench",
                "boot_id": "bench/2026-01-01T00:00:00Z",
                "collected_at": ts,
            }
            for number in range(EACH):
                value = (number * 7919 + interval * 31 + system) % 9973 / 8
                yield {**envelope, **(disk(number, value) if dataset == "disk" else process(number, value))}


def disk(number: int, value: float) -> dict[str, Any]:
    """Return the figures of a disk."""
    return {
        "disk": f"hdisk{number}",
        "device_type": "disk",
        "leaf": number % 10 != 9,
        "busy_pct": value / 13,
        "reads": value,
        "writes": value / 2,
        "transfers": value * 1.5,
        "read_kb": value * 8,
        "written_kb": value * 3,
        "service_ms": value / 100,
        "read_service_ms": value / 90,
        "write_service_ms": value / 110,
        "wait_ms": value / 300,
        "kb_per_transfer": 22 / 3,
    }


def process(number: int, value: float) -> dict[str, Any]:
    """Return the figures of a process."""
    return {
        "job": str(4_000_000 + number),
        "command": f"command{number // 4}",
        "workload_class": "Unclassified",
        "cpu_ms": value * 10,
        "cpu_user_ms": value * 7,
        "cpu_sys_ms": value * 3,
        "cpu_base": "physical",
        "threads": 4.0,
        "size_kb": value * 100,
        "resident_text_kb": 512.0,
        "resident_data_kb": value * 50,
        "char_io_kb": value,
        "memory_pct": 1.0,
        "paging_space_kb": value,
    }


def peer(bootstrap: str, dataset: str) -> float:
    """Return rows/s of the shortest Python program that sums the same rows."""
    definition = datasets()[dataset]
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": "peer",
            "isolation.level": "read_committed",
            "enable.auto.commit": False,
        }
    )
    consumer.assign([TopicPartition(definition.topic, 0, 0)])
    group, value = ("leaf", "read_kb") if dataset == "disk" else ("command", "cpu_ms")
    seen: set[tuple[Any, ...]] = set()
    sums: dict[tuple[Any, ...], float] = defaultdict(float)
    begin = time.monotonic()
    for _ in range(ROWS // 10_000):
        for message in consumer.consume(10_000, timeout=10):
            row = orjson.loads(message.value() or b"")
            key = tuple(row[column] for column in definition.key)
            if key not in seen:
                seen.add(key)
                sums[row["system"], row[group], row["ts"]] += row[value]
    seconds = time.monotonic() - begin
    consumer.close()
    if len(seen) != ROWS:
        raise RuntimeError(f"{len(seen)} of {ROWS} rows were read")
    return ROWS / seconds


if __name__ == "__main__":
    main()
