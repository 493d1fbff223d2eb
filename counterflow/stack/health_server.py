"""The health of the whole stack, in a process of its own: which part runs, how often it had to be started again.

`python -m counterflow.stack.health_server`. It also cuts logs that have become long.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator

from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

from counterflow.base import health
from counterflow.base.errors import CounterflowError
from counterflow.stack import supervision
from counterflow.stack.health import NAME
from counterflow.stack.lifecycle import status
from counterflow.stack.settings import StackSettings

_ROTATE_S = 60.0


class Parts(Collector):
    """Every part by name, running or not."""

    def __init__(self, settings: StackSettings) -> None:
        """Ask nothing yet."""
        self._settings = settings

    def describe(self) -> tuple[GaugeMetricFamily | CounterMetricFamily, ...]:
        """Return what is told, without asking."""
        return (
            GaugeMetricFamily("counterflow_part_up", "1 where the part answers.", labels=["part"]),
            CounterMetricFamily(
                "counterflow_part_restarts",
                "Starts after one that ended by itself, since `counterflow up` started the part.",
                labels=["part"],
            ),
            GaugeMetricFamily(
                "counterflow_part_failures", "Starts in a row that it outlived by seconds only.", labels=["part"]
            ),
            GaugeMetricFamily(
                "counterflow_part_resident_memory_bytes", "Of the part and its children.", labels=["part"]
            ),
        )

    def collect(self) -> Iterator[GaugeMetricFamily | CounterMetricFamily]:
        """Look at every part."""
        up, restarts, failures, resident = families = self.describe()
        for part in status(self._settings, but=NAME):
            up.add_metric([part.name], part.state == "running")
            restarts.add_metric([part.name], part.restarts)
            failures.add_metric([part.name], part.failures)
            resident.add_metric([part.name], part.rss_bytes)
        return iter(families)


def problems(settings: StackSettings) -> list[str]:
    """Say of each part that is not running what is known."""
    return [
        f"{part.name} is {part.state}: {part.detail}" for part in status(settings, but=NAME) if part.state != "running"
    ]


def main() -> None:
    """Answer until SIGTERM."""
    settings = StackSettings.load()
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    registry = CollectorRegistry()
    registry.register(Parts(settings))
    try:
        health.serve(settings.health_port, registry, lambda: problems(settings))
    except OSError as error:
        raise CounterflowError(f"127.0.0.1:{settings.health_port} cannot be listened on: {error.strerror}") from None
    while not stop.wait(_ROTATE_S):
        supervision.rotate(settings)


if __name__ == "__main__":
    main()
