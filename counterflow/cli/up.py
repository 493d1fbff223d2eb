"""`counterflow up`: start the one-machine stack."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from counterflow.base.errors import CounterflowError
from counterflow.cli._json import write_json

if TYPE_CHECKING:
    from counterflow.stack.settings import StackSettings

_LOOK_S = 5.0


@click.command()
@click.option("--home", type=click.Path(path_type=Path), help="Data, logs and secrets. [default: ./.counterflow]")
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of text.")
@click.option("--foreground", is_flag=True, help="Stay until SIGTERM, then stop everything, as a container does.")
def command(home: Path | None, as_json: bool, foreground: bool) -> None:
    """Start Kafka, Flink and ClickHouse on this machine.

    The first start installs them. COUNTERFLOW_KAFKA_PORT and the like set ports: docs/configuration.md.
    """
    from counterflow.cli._table import console
    from counterflow.stack.lifecycle import status, up
    from counterflow.stack.settings import StackSettings

    out = console(stderr=as_json, soft_wrap=True)
    running, requested = StackSettings.load(home=home), StackSettings.from_environment(home=home)
    found = status(running)
    if found and all(part.state == "running" for part in found):
        out.print(f"The stack is already running in {running.home}; counterflow status shows it.")
        if as_json:
            _print_json(running)
        return
    settings = running if found else requested
    begin = time.monotonic()
    with out.status("starting the stack"):
        up(settings, report=out.print)
    seconds = time.monotonic() - begin
    if as_json:
        _print_json(settings)
    else:
        _print_text(settings, seconds, out.print)
    if foreground:
        _stay(settings)


def _stay(settings: StackSettings) -> None:
    """Wait for SIGTERM or SIGINT, and stop the stack; raises `CounterflowError` if its supervisor ends first."""
    import signal

    from counterflow.stack import supervision
    from counterflow.stack.lifecycle import down

    signals = {signal.SIGTERM, signal.SIGINT}
    signal.pthread_sigmask(signal.SIG_BLOCK, signals)
    while not signal.sigtimedwait(signals, _LOOK_S):
        if not supervision.alive(settings):
            raise CounterflowError("the supervisor ended", hint=f"its log: {settings.logs / 'supervisord.log'}")
    down(settings)


def _print_text(settings: StackSettings, seconds: float, report: Callable[..., None]) -> None:
    from counterflow.stack.agent_config import FILE, INBOX

    report(
        f"The stack is up after {seconds:.0f} s.\n"
        f"  Kafka       {settings.kafka_bootstrap}\n"
        f"  Flink       {settings.flink_url}\n"
        f"  ClickHouse  {settings.clickhouse_url}, user reader, password in {settings.secrets / 'clickhouse-reader'}\n"
        f"  Health      http://127.0.0.1:{settings.health_port}/healthz\n"
        f"  Grafana     {_grafana(settings)}\n"
        f"  Agent       counterflow agent run --config {settings.home / FILE}: files in {settings.home / INBOX}"
    )


def _print_json(settings: StackSettings) -> None:
    from counterflow.stack.agent_config import FILE

    places = {
        "home": str(settings.home),
        "kafka": settings.kafka_bootstrap,
        "flink": settings.flink_url,
        "clickhouse": settings.clickhouse_url,
        "health": f"http://127.0.0.1:{settings.health_port}/healthz",
        "grafana": settings.grafana_url if settings.grafana else None,
        "secrets": str(settings.secrets),
        "agent_config": str(settings.home / FILE),
    }
    write_json([places])


def _grafana(settings: StackSettings) -> str:
    from counterflow.stack.grafana import container

    password = f"user admin, password in {settings.secrets / 'grafana-admin'}"
    if settings.grafana:
        return f"{settings.grafana_url}, {password}; its alerts reach nobody before you add a contact point"
    return f"not on PATH; in a container, at {settings.grafana_url}, {password}:\n              {container(settings)}"
