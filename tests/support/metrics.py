"""The names of all metrics of the product, taken from the code that exposes them."""

from __future__ import annotations

from prometheus_client import CollectorRegistry

from counterflow.collectors.agent.metrics import Metrics
from counterflow.pipelines.exporter.jobs import Jobs
from counterflow.pipelines.exporter.metrics import Results
from counterflow.pipelines.landing import metrics as lander
from counterflow.stack.health_server import Parts
from counterflow.stack.settings import StackSettings

_SUFFIXES = {"counter": ("_total",), "histogram": ("_bucket", "_count", "_sum")}


def published() -> set[str]:
    """Return the Prometheus names of all metrics of agent, lander, exporter and the stack's health server."""
    exporter = CollectorRegistry()
    exporter.register(Results(stale_s=1, most=1))
    registries = (exporter, Metrics().registry, lander.REGISTRY)
    described = (Jobs("http://127.0.0.1"), Parts(StackSettings.from_environment({})))
    families = [
        *(one for collector in described for one in collector.describe()),
        *(one for registry in registries for one in registry.collect()),
    ]
    return {family.name + suffix for family in families for suffix in ("", *_SUFFIXES.get(family.type, ()))}
