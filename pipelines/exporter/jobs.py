"""State of the Flink jobs, read from Flink's REST interface at each scrape."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import NamedTuple

import httpx
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

from counterflow.pipelines.jobs import all_jobs
from counterflow.pipelines.submission.rest import Flink, client

_TIMEOUT_S = 1.5  # a request
_PATIENCE_S = 3.0  # all requests: a scrape may take ten


class _JobState(NamedTuple):
    running: bool
    checkpointed: datetime | None
    failed_checkpoints: int


class Jobs(Collector):
    """Each job by name, running or not, whether one cluster runs all jobs or each job has its own."""

    def __init__(self, *flink_urls: str, names: Collection[str] = (), certificate: Path | None = None) -> None:
        """`names`: jobs that are to run, all if empty; `certificate` is as in `rest.client`."""
        self._names = names or all_jobs()
        self._clusters = [partial(client, url, certificate, timeout_s=_TIMEOUT_S) for url in flink_urls]

    def describe(self) -> tuple[GaugeMetricFamily | CounterMetricFamily, ...]:
        """Return the metrics that exist while Flink answers, without a request to it."""
        return (
            GaugeMetricFamily("counterflow_flink_up", "1 where Flink answers."),
            GaugeMetricFamily("counterflow_job_running", "1 where the job runs.", labels=["flink_job"]),
            GaugeMetricFamily(
                "counterflow_job_checkpoint_timestamp_seconds",
                "When the newest checkpoint was completed.",
                labels=["flink_job"],
            ),
            CounterMetricFamily(
                "counterflow_job_failed_checkpoints",
                "Checkpoints that failed since the job was submitted.",
                labels=["flink_job"],
            ),
        )

    def collect(self) -> Iterator[GaugeMetricFamily | CounterMetricFamily]:
        """Yield the state of each job; `counterflow_flink_up` alone where no cluster answers."""
        up, running, newest, failed = self.describe()
        with ThreadPoolExecutor(len(self._clusters)) as pool:
            answers = [answer for answer in pool.map(_states, self._clusters) if answer is not None]
        up.add_metric([], bool(answers))
        if not answers:
            yield up
            return
        found = {name: state for answer in answers for name, state in answer.items()}
        for name in self._names:
            state = found.get(name)
            running.add_metric([name], state is not None and state.running)
            if state:
                failed.add_metric([name], state.failed_checkpoints)
                if state.checkpointed:
                    newest.add_metric([name], state.checkpointed.timestamp())
        yield from (up, running, newest, failed)


def _states(connect: Callable[[], httpx.Client]) -> dict[str, _JobState] | None:
    """Return the jobs of a cluster; None where it does not answer, or too slowly."""
    end = time.monotonic() + _PATIENCE_S
    found: dict[str, _JobState] = {}
    try:
        with connect() as http:  # anew each time: a certificate may have been renewed
            flink = Flink(http)
            for job in flink.running():
                if time.monotonic() > end:
                    return None
                if job["name"] in all_jobs():
                    found[job["name"]] = _JobState(job["state"] == "RUNNING", *flink.checkpoints(job["jid"]))
    except (httpx.HTTPError, OSError):
        return None
    return found
