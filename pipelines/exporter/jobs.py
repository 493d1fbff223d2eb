"""How the Flink jobs are, asked of Flink's REST interface when Prometheus asks."""

from __future__ import annotations

import time
from collections.abc import Iterator

import httpx
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

from counterflow.pipelines.jobs import all_jobs
from counterflow.pipelines.jobs.rest import Flink

_TIMEOUT_S = 1.5  # of an answer
_PATIENCE_S = 3.0  # of all of them: a scrape takes ten at most


class Jobs(Collector):
    """Every job by name, running or not."""

    def __init__(self, flink_url: str) -> None:
        """Ask nothing yet."""
        self._http = httpx.Client(base_url=flink_url, timeout=_TIMEOUT_S, trust_env=False)

    def describe(self) -> tuple[GaugeMetricFamily | CounterMetricFamily, ...]:
        """Return what is told where Flink answers, without asking it."""
        return (
            GaugeMetricFamily("counterflow_flink_up", "1 where Flink answers."),
            GaugeMetricFamily("counterflow_job_running", "1 where the job runs.", labels=["flink_job"]),
            GaugeMetricFamily(
                "counterflow_job_checkpoint_timestamp_seconds",
                "When its newest checkpoint was completed.",
                labels=["flink_job"],
            ),
            CounterMetricFamily(
                "counterflow_job_failed_checkpoints",
                "Checkpoints that failed since it was submitted.",
                labels=["flink_job"],
            ),
        )

    def collect(self) -> Iterator[GaugeMetricFamily | CounterMetricFamily]:
        """Return what Flink says; `counterflow_flink_up` alone where it says nothing."""
        up, running, newest, failed = self.describe()
        end = time.monotonic() + _PATIENCE_S
        try:
            flink = Flink(self._http)
            found = {job["name"]: job for job in flink.running()}
            for name in all_jobs():
                job = found.get(name)
                running.add_metric([name], job is not None and job["state"] == "RUNNING")
                if job:
                    if time.monotonic() > end:
                        raise httpx.ReadTimeout("Flink answers too slowly")
                    at, failures = flink.checkpoints(job["jid"])
                    failed.add_metric([name], failures)
                    if at:
                        newest.add_metric([name], at.timestamp())
        except httpx.HTTPError:
            up.add_metric([], 0)
            yield up
            return
        up.add_metric([], 1)
        yield from (up, running, newest, failed)
