"""Rows a second that `account_cpu` joins, and a year of 200 Db2 members through `log_load`."""

from __future__ import annotations

import itertools
import os
import sys
import tempfile
import time
from pathlib import Path

import orjson
from confluent_kafka import Consumer, TopicPartition

from bench.figure import Figure
from bench.generate_zos import BEGIN, configured, minutes, publish
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

STREAMS = ("system_cpu", "workload", "db_log")
COLUMNS = {datasets()[name].topic: contract(name).columns for name in STREAMS}
SYSTEMS, MEMBERS = 100, 2
MINUTES = int(os.environ.get("BENCH_MINUTES", "3000"))
YEAR_MINUTES = 365 * 24 * 60


def main() -> None:
    """Fill the topics, run both jobs over them twice (the first warms the JVM), then the peer."""
    parts = StackSettings.from_environment().parts
    with tempfile.TemporaryDirectory(prefix="bench-accounts-") as home:
        settings = free_settings(Path(home), parts)
        try:
            lifecycle.start(settings, "kafka", "jobmanager", "taskmanager")
            create_topics(settings, topics(partitions=CORES))
            published = itertools.chain(configured(SYSTEMS, MEMBERS), minutes(SYSTEMS, MEMBERS, MINUTES))
            rows = publish(settings.kafka("admin"), published) - SYSTEMS * (MEMBERS + 1)
            figures = {}
            for job in ("account_cpu", "log_load"):
                cold, figures[job] = (rerun(settings, cluster(settings), job, BEGIN) for _ in range(2))
                print(f"{job}: cold {cold}; warm {figures[job]}", file=sys.stderr)
            emit(rows, figures, peer(settings.kafka("admin"), rows))
        finally:
            lifecycle.down(settings)


def emit(rows: int, figures: dict[str, Took], plain: float) -> None:
    """Print both figures."""
    read = (
        f"{SYSTEMS} systems with {MEMBERS} Db2 members each, {MINUTES:,} intervals of 60 s: processors, accounts, logs "
        f"in {CORES} partitions each, through the job {METHOD}"
    )
    seconds, cpu, _ = figures["account_cpu"]
    method = f"{rows:,} rows of {read}; {cpu:.1f} CPU s of the TaskManager."
    text = "one Python process: consume, orjson, a dictionary by system and time; no results written"
    Figure("account_cpu", round(rows / seconds), "rows/s", ">= 60000", method, text, round(plain)).emit()
    seconds, cpu, results = figures["log_load"]
    logs, year = SYSTEMS * MEMBERS * MINUTES, SYSTEMS * MEMBERS * YEAR_MINUTES
    method = (
        f"{results:,} results of {logs:,} log rows and {2 * SYSTEMS * MINUTES:,} of processors, scaled up to {year:,} "
        f"log rows; {read}; {cpu:.1f} CPU s of the TaskManager."
    )
    name = f"log_load, a year of {SYSTEMS * MEMBERS} Db2 members"
    Figure(name, round(seconds * year / logs / 60, 1), "minutes", "<= 30", method).emit()


def peer(kafka: Kafka, rows: int) -> float:
    """Return rows/s of the shortest Python program that joins the same rows."""
    consumer = Consumer(
        {
            **kafka.client,
            "group.id": "peer",
            "isolation.level": "read_committed",
            "enable.auto.commit": False,
        }
    )
    consumer.assign([TopicPartition(datasets()[name].topic, part, 0) for name in STREAMS for part in range(CORES)])
    together: dict[tuple[str, str], list[object]] = {}
    read = 0
    begin = time.monotonic()
    while read < rows:
        for message in consumer.consume(10_000, timeout=10):
            columns = COLUMNS[message.topic() or ""]
            for row in of_frame(orjson.loads(message.value() or b""), columns):
                together.setdefault((row["system"], row["ts"]), []).append(row)
                read += 1
    seconds = time.monotonic() - begin
    consumer.close()
    return rows / seconds


if __name__ == "__main__":
    main()
