"""Serves the health of the stack from a separate process: which parts run, and since when.

`python -m counterflow.stack.health_server`.
"""

from __future__ import annotations

from collections.abc import Iterator

from prometheus_client import CollectorRegistry
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from counterflow.base import health
from counterflow.base.stopping import stopping
from counterflow.stack.lifecycle import status
from counterflow.stack.parts import HEALTH
from counterflow.stack.settings import StackSettings


class Parts(Collector):
    """Every part by name, running or not."""

    def __init__(self, settings: StackSettings) -> None:
        self._settings = settings

    def describe(self) -> tuple[GaugeMetricFamily, ...]:
        """Return the metrics, without a request to any part."""
        return (
            GaugeMetricFamily("counterflow_part_up", "1 where the part answers.", labels=["part"]),
            GaugeMetricFamily(
                "counterflow_part_start_time_seconds", "Start of the part's process since the epoch.", labels=["part"]
            ),
            GaugeMetricFamily(
                "counterflow_part_resident_memory_bytes", "Of the part and its children.", labels=["part"]
            ),
        )

    def collect(self) -> Iterator[GaugeMetricFamily]:
        up, started, resident = families = self.describe()
        for part in status(self._settings, but=HEALTH):
            up.add_metric([part.name], part.state == "running")
            if part.pid:
                started.add_metric([part.name], part.started_s)
            resident.add_metric([part.name], part.rss_bytes)
        return iter(families)


def problems(settings: StackSettings) -> list[str]:
    return [
        f"{part.name} is {part.state}: {part.detail}"
        for part in status(settings, but=HEALTH)
        if part.state != "running"
    ]


def main() -> None:
    """Serve until SIGTERM."""
    settings = StackSettings.load()
    stop = stopping()
    registry = CollectorRegistry()
    registry.register(Parts(settings))
    health.serve(settings.health_port, registry, lambda: problems(settings))
    stop.wait()


if __name__ == "__main__":
    main()
