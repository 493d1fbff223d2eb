"""The exporter of verdicts and newest figures, scraped by Prometheus."""

from __future__ import annotations

import sys

from counterflow.stack.part import Part
from counterflow.stack.scrape import scrape
from counterflow.stack.settings import StackSettings


def exporter(settings: StackSettings) -> Part:
    """Describe the exporter; it answers once it has queried ClickHouse."""
    return Part(
        name="exporter",
        command=(sys.executable, "-m", "counterflow", "dev", "verdicts"),
        ready=lambda _: _ready(settings),
        ports=(settings.verdicts_metrics_port,),
    )


def _ready(settings: StackSettings) -> str | None:
    families = scrape(settings.verdicts_metrics_port)
    if families is None:
        return None
    return f"{len(families['counterflow_verdict_timestamp_seconds'].samples)} verdicts published"
