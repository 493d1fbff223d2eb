"""The names of all metrics that the parts tell, taken from the code that tells them."""

from __future__ import annotations

from prometheus_client import CollectorRegistry

from counterflow.collectors.agent.metrics import Metrics
from counterflow.pipelines.exporter.jobs import Jobs
from counterflow.pipelines.exporter.metrics import Told
from counterflow.pipelines.landing import metrics as lander

_SUFFIXES = {"counter": ("_total",), "histogram": ("_bucket", "_count", "_sum")}


def told() -> set[str]:
    """Return the names under which Prometheus keeps what agent, lander and exporter tell."""
    exporter = CollectorRegistry()
    exporter.register(Told(stale_s=1, most=1))
    registries = (exporter, Metrics().registry, lander.REGISTRY)
    families = [*Jobs("http://127.0.0.1").describe(), *(one for registry in registries for one in registry.collect())]
    return {family.name + suffix for family in families for suffix in ("", *_SUFFIXES.get(family.type, ()))}
