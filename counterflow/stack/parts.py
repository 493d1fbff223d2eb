"""The list of the stack's parts: what each server is, is beside this file; a part of ours is described here."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import httpx
from prometheus_client import Metric
from prometheus_client.parser import text_string_to_metric_families

from counterflow.stack import clickhouse, flink, grafana, jobs, kafka
from counterflow.stack.part import Part
from counterflow.stack.settings import HOST, StackSettings

HEALTH = "health"
"""Name of the part that reports the state of the others."""


def all_parts(settings: StackSettings) -> list[Part]:
    """Describe every part, each after those it depends on; they are stopped in reverse order."""
    return [
        kafka.broker(settings),
        clickhouse.engine(settings),
        flink.jobmanager(settings),
        flink.taskmanager(settings),
        lander(settings),
        _exporter(settings),
        jobs.watcher(settings),
        _health(settings),
        *([grafana.server(settings, settings.grafana)] if settings.grafana else []),
    ]


def lander(settings: StackSettings) -> Part:
    """Describe the lander; its fixed name in the group lets a restart take its partitions over at once."""
    port = settings.lander_metrics_port
    options = ("--instance-id", "stack", "--metrics-port", str(port))
    return Part(
        name="lander",
        command=(sys.executable, "-m", "counterflow", "dev", "land", *options),
        ready=lambda _: _landing(port),
        problems=lambda: _problems(port),
        ports=(port,),
        stop_s=60,
    )


def _landing(port: int) -> str | None:
    if (families := _scrape(port)) is None:
        return None
    landed, lag = (
        sum(sample.value for sample in families[f"counterflow_lander_{name}"].samples) for name in ("rows", "lag")
    )
    return f"{landed:,.0f} rows since its start, lag {lag:,.0f}"


def _problems(port: int) -> Sequence[str]:
    answer = _get(port, "healthz", timeout_s=5)
    return [] if answer is None or answer.is_success else answer.text.splitlines()


def _exporter(settings: StackSettings) -> Part:
    """Describe the exporter of verdicts and newest figures; it answers once it has queried ClickHouse."""
    return Part(
        name="exporter",
        command=(sys.executable, "-m", "counterflow", "dev", "verdicts"),
        ready=lambda _: _exporting(settings.verdicts_metrics_port),
        ports=(settings.verdicts_metrics_port,),
    )


def _exporting(port: int) -> str | None:
    if (families := _scrape(port)) is None:
        return None
    return f"{len(families['counterflow_verdict_timestamp_seconds'].samples)} verdicts published"


def _health(settings: StackSettings) -> Part:
    """Describe the process that reports the state of all parts."""
    return Part(
        name=HEALTH,
        command=(sys.executable, "-m", "counterflow.stack.health_server"),
        ready=lambda _: _healthy(settings.health_port),
        ports=(settings.health_port,),
    )


def _healthy(port: int) -> str | None:
    if (answer := _get(port, "healthz", timeout_s=20)) is None:
        return None
    found = [line.partition(" ")[0] for line in answer.text.splitlines()]
    return "every part answers" if answer.is_success else f"do not answer: {', '.join(found)}"


def _scrape(port: int) -> dict[str, Metric] | None:
    """Return the metric families of a part by name; None while it does not answer."""
    answer = _get(port, "metrics", timeout_s=5)
    if answer is None or not answer.is_success:
        return None
    return {family.name: family for family in text_string_to_metric_families(answer.text)}


def _get(port: int, page: str, *, timeout_s: float) -> httpx.Response | None:
    try:
        return httpx.get(f"http://{HOST}:{port}/{page}", timeout=timeout_s, trust_env=False)
    except httpx.HTTPError:
        return None
