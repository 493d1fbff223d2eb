"""The names of all metrics that the parts tell, taken from the code that tells them."""

from __future__ import annotations

from prometheus_client import CollectorRegistry

from counterflow.collectors.agent.metrics import Metrics
from counterflow.pipelines.exporter.jobs import Jobs
from counterflow.pipelines.exporter.metrics import Told
from counterflow.pipelines.landing import metrics as lander
from counterflow.stack.health_server import Parts
from counterflow.stack.settings import StackSettings

_SUFFIXES = {"counter": ("_total",), "histogram": ("_bucket", "_count", "_sum")}


def told() -> set[str]:
    """Return the names under which Prometheus keeps what agent, lander, exporter and the stack's own health tell."""
    exporter = CollectorRegistry()
    exporter.register(Told(stale_s=1, most=1))
    registries = (exporter, Metrics().registry, lander.REGISTRY)
    asked = (Jobs("http://127.0.0.1"), Parts(StackSettings.from_environment({})))
    families = [
        *(one for collector in asked for one in collector.describe()),
        *(one for registry in registries for one in registry.collect()),
    ]
    return {family.name + suffix for family in families for suffix in ("", *_SUFFIXES.get(family.type, ()))}
