"""Runs a Flink job over all rows in its topics, and measures it."""

from __future__ import annotations

import os
from datetime import datetime, timedelta
from typing import NamedTuple

import psutil

from bench import cpu
from counterflow.pipelines import jobs
from counterflow.pipelines.jobs.cluster import Cluster
from counterflow.stack import flink, supervision
from counterflow.stack.settings import StackSettings

CORES = os.cpu_count() or 1
"""Partitions of a topic and subtasks of a job: one per core."""
METHOD = (
    f"in bounded mode at parallelism {CORES}, wall time of the Flink job, start-up included, second run on the same "
    f"TaskManager; broker on the same {CORES} cores"
)


class Took(NamedTuple):
    """Seconds of the Flink job, CPU seconds of the TaskManager, and results written."""

    seconds: float
    cpu_s: float
    results: int

    def __str__(self) -> str:
        """Return the figures as text."""
        return f"{self.seconds:.1f} s, {self.cpu_s:.1f} CPU s, {self.results:,} results"


def rerun(settings: StackSettings, cluster: Cluster, name: str, begin: datetime, parallelism: int = CORES) -> Took:
    """Run a job over the year from `begin`."""
    manager = psutil.Process(supervision.states(settings)["taskmanager"].pid)
    (job,) = jobs.chosen([name])
    before = cpu.of_process(manager)
    period = jobs.Period(begin, begin + timedelta(days=366))
    written = jobs.rerun(cluster, period, [job.model_copy(update={"parallelism": parallelism})])
    used = cpu.of_process(manager) - before
    with flink.client(settings) as http:
        found = http.get("/jobs/overview").raise_for_status().json()["jobs"]
    newest = max((job for job in found if job["name"] == f"{name} rerun"), key=lambda job: int(job["start-time"]))
    return Took(newest["duration"] / 1000, used, sum(written.values()))
