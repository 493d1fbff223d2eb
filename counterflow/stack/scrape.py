"""Reads a part's own `/metrics`."""

from __future__ import annotations

import httpx
from prometheus_client import Metric
from prometheus_client.parser import text_string_to_metric_families

from counterflow.stack.settings import HOST


def scrape(port: int) -> dict[str, Metric] | None:
    """Return the metric families by name; None while the part does not answer."""
    try:
        text = httpx.get(f"http://{HOST}:{port}/metrics", timeout=5, trust_env=False).raise_for_status().text
    except httpx.HTTPError:
        return None
    return {family.name: family for family in text_string_to_metric_families(text)}
