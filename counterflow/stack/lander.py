"""The lander: Kafka → ClickHouse, one process."""

from __future__ import annotations

import sys

import httpx
from prometheus_client.parser import text_string_to_metric_families

from counterflow.stack.part import Part
from counterflow.stack.settings import HOST, StackSettings


def lander(settings: StackSettings) -> Part:
    """Describe the lander; it keeps one name in its group, so that a restart takes its partitions over at once."""
    options = ("--instance-id", "stack", "--metrics-port", str(settings.lander_metrics_port))
    return Part(
        name="lander",
        command=(sys.executable, "-m", "counterflow", "land", *options),
        ready=lambda _: _ready(settings),
        ports=(settings.lander_metrics_port,),
        stop_s=60,
    )


def _ready(settings: StackSettings) -> str | None:
    try:
        url = f"http://{HOST}:{settings.lander_metrics_port}/metrics"
        text = httpx.get(url, timeout=5, trust_env=False).raise_for_status().text
    except httpx.HTTPError:
        return None
    totals = dict.fromkeys(("counterflow_lander_rows_total", "counterflow_lander_lag"), 0.0)
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            if sample.name in totals:
                totals[sample.name] += sample.value
    landed, lag = totals.values()
    return f"{landed:,.0f} rows since its start, lag {lag:,.0f}"
