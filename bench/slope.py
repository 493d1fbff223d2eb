"""The gain of a job from a second core and from more partitions: the slope by which docs/scale.md plans."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from bench.figure import Figure
from bench.jobs import BEGIN, INPUT, ROWS, Input, fill
from bench.rerun import CORES, rerun
from counterflow.schemas.definition import Topic, datasets, topics
from counterflow.stack import lifecycle, supervision
from counterflow.stack.jobs import cluster
from counterflow.stack.kafka import create_topics
from counterflow.stack.settings import StackSettings
from tests.conftest import free_settings

PARTITIONS = (1, 4, 16)


def main() -> None:
    """Run the same rows through the same job: in 1, 4 and 16 partitions, then with all parts on one core and on all."""
    parts = StackSettings.from_environment().parts
    given = {count: INPUT["io_mix"]._replace(version=110 + count) for count in PARTITIONS}
    with tempfile.TemporaryDirectory(prefix="bench-slope-") as home:
        settings = free_settings(Path(home), parts)
        try:
            lifecycle.start(settings, "kafka", "jobmanager", "taskmanager")
            create_topics(settings, topics(partitions=1))
            for count, one in given.items():
                create_topics(settings, [Topic(one.definition.topic, count, {})])
                fill(settings.kafka("admin"), one)
            _rows_a_second(settings, given[4], CORES)  # warms the JVM
            by_partitions = {count: _rows_a_second(settings, one, 1) for count, one in given.items()}
            on_all = _rows_a_second(settings, given[4], CORES)
            _pin(settings, [0])
            on_one = _rows_a_second(settings, given[4], 1)
        finally:
            lifecycle.down(settings)
    print({"parallelism 1, by partitions": by_partitions, "one core": on_one, f"{CORES} cores": on_all})
    rows = f"{ROWS:,} rows through `io_mix` in bounded mode, wall time of the Flink job, start-up included"
    method = (
        f"{rows}: broker, JobManager and TaskManager pinned to one core, parallelism 1, {on_one:,.0f} rows/s; on "
        f"{CORES} cores, parallelism {CORES}, {on_all:,.0f} rows/s; four partitions."
    )
    Figure(f"{CORES} cores over one", round(on_all / on_one, 2), "x the rows/s", ">= 1.6", method).emit()
    rates = ", ".join(f"{count}: {rate:,.0f}" for count, rate in by_partitions.items())
    method = f"{rows}: rows/s at parallelism 1 on {CORES} cores by partitions, {rates}."
    ratio = by_partitions[16] / by_partitions[1]
    Figure("16 partitions over one", round(ratio, 2), "x the rows/s", ">= 0.8", method).emit()


def _rows_a_second(settings: StackSettings, given: Input, parallelism: int) -> float:
    versioned = replace(cluster(settings), datasets={**datasets(), given.dataset: given.definition})
    return ROWS / rerun(settings, versioned, "io_mix", BEGIN, parallelism).seconds


def _pin(settings: StackSettings, cores: Iterable[int]) -> None:
    """Pin every thread of every part to these cores; threads that they start inherit it."""
    for state in supervision.states(settings).values():
        for thread in Path(f"/proc/{state.pid}/task").iterdir() if state.pid else ():
            os.sched_setaffinity(int(thread.name), cores)


if __name__ == "__main__":
    main()
