"""The health of a process: what answers for it, what the images and `counterflow status` ask of it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from socket import socket

import pytest
from prometheus_client import CollectorRegistry

from counterflow.base import health
from counterflow.base.errors import CounterflowError
from counterflow.stack.parts import lander
from counterflow.stack.settings import StackSettings
from tests.support.ports import free_ports
from tests.support.servers import free_settings


def test_a_lander_that_answers_reports_why_nothing_lands(tmp_path: Path) -> None:
    [port] = free_ports(1)
    part = lander(StackSettings(home=tmp_path, lander_metrics_port=port))
    assert part.problems() == [], "it does not answer, which its state shows"
    found: list[str] = []
    health.serve(port, CollectorRegistry(), lambda: found)
    assert part.problems() == []
    found.append("messages wait in Kafka, and none landed for 31 s")
    assert part.problems() == found


def test_a_taken_port_is_named() -> None:
    with socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(CounterflowError, match=f"127.0.0.1:{port} cannot be listened on: Address already in use"):
            health.serve(port, CollectorRegistry(), list)


@pytest.mark.parametrize(
    ("problem", "options", "status"),
    [("", (), 0), ("Kafka is away", (), 1), ("Kafka is away", ("--alive",), 0)],
)
def test_it_requests_the_health_of_the_process_in_its_container(
    problem: str, options: tuple[str, ...], status: int, tmp_path: Path
) -> None:
    port = free_settings(tmp_path, tmp_path).health_port
    health.serve(port, CollectorRegistry(), lambda: [problem] if problem else [])
    answered = probe(port, *options)
    assert (answered.returncode, answered.stdout.strip()) == (status, problem or "ok")


def test_it_fails_where_nothing_listens(tmp_path: Path) -> None:
    for options in ((), ("--alive",)):
        answered = probe(free_settings(tmp_path, tmp_path).health_port, *options)
        assert answered.returncode == 1
        assert "refused" in answered.stdout


def probe(port: int, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "counterflow.base.probe", *options]
    environment = {"COUNTERFLOW_PROBE_PORT": str(port)}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
