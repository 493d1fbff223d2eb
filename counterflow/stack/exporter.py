"""The exporter of verdicts and newest figures to Prometheus."""

from __future__ import annotations

import sys

import httpx
from prometheus_client.parser import text_string_to_metric_families

from counterflow.stack.part import Part
from counterflow.stack.settings import HOST, StackSettings


def exporter(settings: StackSettings) -> Part:
    """Describe the exporter; it answers when it has read what the topics hold."""
    return Part(
        name="exporter",
        command=(sys.executable, "-m", "counterflow", "verdicts", "export"),
        ready=lambda _: _ready(settings),
        ports=(settings.verdicts_metrics_port,),
    )


def _ready(settings: StackSettings) -> str | None:
    try:
        url = f"http://{HOST}:{settings.verdicts_metrics_port}/metrics"
        text = httpx.get(url, timeout=5, trust_env=False).raise_for_status().text
    except httpx.HTTPError:
        return None
    families = {family.name: family for family in text_string_to_metric_families(text)}
    return f"{len(families['counterflow_verdict_timestamp_seconds'].samples)} verdicts told"
