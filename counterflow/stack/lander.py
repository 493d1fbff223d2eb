"""The lander: Kafka → ClickHouse, one process."""

from __future__ import annotations

import sys

import httpx

from counterflow.stack.part import Part
from counterflow.stack.scrape import scrape
from counterflow.stack.settings import HOST, StackSettings


def lander(settings: StackSettings) -> Part:
    """Describe the lander; its fixed name in the group lets a restart take its partitions over at once."""
    options = (
        *("--instance-id", "stack", "--metrics-port", str(settings.lander_metrics_port)),
        *("--most-refused", str(settings.lander_most_refused)),
    )
    return Part(
        name="lander",
        command=(sys.executable, "-m", "counterflow", "dev", "land", *options),
        ready=lambda _: _ready(settings),
        problems=lambda: _problems(settings),
        ports=(settings.lander_metrics_port,),
        stop_s=60,
    )


def _ready(settings: StackSettings) -> str | None:
    families = scrape(settings.lander_metrics_port)
    if families is None:
        return None
    landed, lag = (
        sum(sample.value for sample in families[f"counterflow_lander_{name}"].samples) for name in ("rows", "lag")
    )
    return f"{landed:,.0f} rows since its start, lag {lag:,.0f}"


def _problems(settings: StackSettings) -> list[str]:
    try:
        health = httpx.get(f"http://{HOST}:{settings.lander_metrics_port}/healthz", timeout=5, trust_env=False)
    except httpx.HTTPError:
        return []
    return [] if health.is_success else health.text.splitlines()
