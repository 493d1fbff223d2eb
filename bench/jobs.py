"""Rows a second of each Flink job, from rows in Kafka to results in Kafka, beside a plain Python consumer."""

from __future__ import annotations

import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import orjson
from confluent_kafka import Consumer, TopicPartition

from bench.figure import Figure
from bench.framed import send
from bench.rerun import CORES, METHOD, Took, rerun
from counterflow.base.kafka import Kafka
from counterflow.schemas.definition import Dataset, Topic, datasets, topics
from counterflow.schemas.frame import rows as of_frame
from counterflow.stack import lifecycle
from counterflow.stack.jobs import cluster
from counterflow.stack.kafka import create_topics
from counterflow.stack.settings import StackSettings
from tests.conftest import free_settings
from tests.support.frames import frames

ROWS = 2_000_000
SYSTEMS = 8
"""Each of two partitions has half of them."""
BEGIN = datetime(2026, 1, 1, tzinfo=UTC)


COUNTERS = [  # of a row of QAPMJOBMI joined with QAPMJOBOS
    name for name in datasets()["job"].sources["ibmi_tables"] if datasets()["job"].columns[name].type == "Float64"
]


class Input(NamedTuple):
    """The input of a job: rows of `dataset` from `source`, with `figures` computed from a number and a value.

    A system has `each` disks, processes or jobs an interval; four processes share a command, ten jobs a name. The peer
    sums the column `value` by the column `group`. Each job has a topic of its own, by a `version` of the dataset that
    no release has.
    """

    dataset: str
    source: str
    interval_s: int
    each: int
    figures: Callable[[int, float], dict[str, Any]]
    group: str
    value: str
    version: int

    @property
    def definition(self) -> Dataset:
        """The dataset at this version."""
        return datasets()[self.dataset].model_copy(update={"version": self.version})


def main() -> None:
    """Fill the topics, run each job over them twice (the first warms the JVM), then the peer."""
    parts = StackSettings.from_environment().parts
    with tempfile.TemporaryDirectory(prefix="bench-jobs-") as home:
        settings = free_settings(Path(home), parts)
        try:
            lifecycle.start(settings, "kafka", "jobmanager", "taskmanager")
            create_topics(settings, topics(partitions=1))
            chosen = sys.argv[1:] or list(INPUT)
            for name in chosen:
                create_topics(settings, [Topic(INPUT[name].definition.topic, CORES, {})])
                fill(settings.kafka("admin"), INPUT[name])
            for name in chosen:
                definition = INPUT[name].definition
                versioned = replace(cluster(settings), datasets={**datasets(), definition.dataset: definition})
                cold, warm = (rerun(settings, versioned, name, BEGIN) for _ in range(2))
                emit(name, cold, warm, peer(settings.kafka("admin"), INPUT[name]))
        finally:
            lifecycle.down(settings)


def emit(name: str, cold: Took, warm: Took, plain: float) -> None:
    """Print the measured times, and the figure."""
    print(f"{name}: cold {cold}; warm {warm}")
    method = (
        f"{ROWS:,} rows of {SYSTEMS} systems in {CORES} partitions through the job {METHOD}; {warm.cpu_s:.1f} CPU s of "
        "the TaskManager."
    )
    text = "one Python process: consume, orjson, keep first, sum by interval; no state kept, no results written"
    Figure(name, round(ROWS / warm.seconds), "rows/s", LIMIT[name], method, text, round(plain)).emit()


def fill(kafka: Kafka, given: Input) -> None:
    """Publish the rows of a job as the agent does: keyed by system, interval by interval."""
    numbered = ({**row, "seq": seq} for seq, row in enumerate(rows(given)))
    send(kafka, ((given.definition.topic, frame) for frame in frames(given.definition.dataset, numbered)))


def rows(given: Input) -> Iterator[dict[str, Any]]:
    """Yield rows of all systems, interval by interval."""
    for interval in range(ROWS // (SYSTEMS * given.each)):
        ts = f"{BEGIN + interval * timedelta(seconds=given.interval_s):%FT%TZ}"
        for system in range(SYSTEMS):
            envelope = {
                "ts": ts,
                "interval_s": float(given.interval_s),
                "system": f"system{system:02}",
                "source": given.source,
                "agent_id": "bench",
                "boot_id": "bench/2026-01-01T00:00:00Z",
                "collected_at": ts,
            }
            for number in range(given.each):
                value = (number * 7919 + interval * 31 + system) % 9973 / 8
                yield {**envelope, **given.figures(number, value)}


def task(number: int, value: float) -> dict[str, Any]:
    """Return the figures of a row of QAPMJOBMI joined with QAPMJOBOS: every counter, as Collection Services has it."""
    name = f"{('ORDENT', 'QZDASO', 'PAYROL', 'QDBMSR', 'NIGHTB')[number % 5]}{number % 100:02}"
    names = {"job_name": name, "job_user": f"USER{number % 50}", "job_number": f"{number:06}", "command": name}
    kind = {"job_type": "B", "job_subtype": "", "server_type": "", "job_pool": "02", "priority": "020"}
    kind |= {"subsystem": f"SBS{number % 8}", "current_user": "QUSER", "job_event": "running", "cpu_base": "physical"}
    identity = {"job": f"{number:06}/USER{number % 50}/{name}/{number:016X}", "task": f"{number:016X}"}
    return {
        **identity,
        **names,
        **kind,
        **dict.fromkeys(COUNTERS, float(round(value))),
        "logical_reads": float(round(value) * 3),
    }


LIMIT = {"io_mix": ">= 100000"}
INPUT = {
    "io_mix": Input("job", "ibmi_tables", 900, 1000, task, "job_name", "logical_reads", 103),
}


def peer(kafka: Kafka, given: Input) -> float:
    """Return rows/s of the shortest Python program that sums the same rows."""
    definition = given.definition
    consumer = Consumer(
        {
            **kafka.client,
            "group.id": "peer",
            "isolation.level": "read_committed",
            "enable.auto.commit": False,
        }
    )
    consumer.assign([TopicPartition(definition.topic, partition, 0) for partition in range(CORES)])
    columns = frozenset(definition.columns)
    seen: set[tuple[Any, ...]] = set()
    sums: dict[tuple[Any, ...], float] = defaultdict(float)
    begin = time.monotonic()
    while len(seen) < ROWS and (messages := consumer.consume(1_000, timeout=10)):
        for message in messages:
            for row in of_frame(orjson.loads(message.value() or b""), columns):
                key = tuple(row[column] for column in definition.key)
                if key not in seen:
                    seen.add(key)
                    sums[row["system"], row[given.group], row["ts"]] += row[given.value]
    seconds = time.monotonic() - begin
    consumer.close()
    if len(seen) != ROWS:
        raise RuntimeError(f"{len(seen)} of {ROWS} rows were read")
    return ROWS / seconds


if __name__ == "__main__":
    main()
