"""The health check of the images."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry

from counterflow.base import health
from tests.conftest import free_settings


@pytest.mark.parametrize(("problems", "status", "output"), [((), 0, "ok"), (("Kafka is away",), 1, "Kafka is away")])
def test_it_requests_the_health_of_the_process_in_its_container(
    problems: tuple[str, ...], status: int, output: str, tmp_path: Path
) -> None:
    port = free_settings(tmp_path, tmp_path).health_port
    health.serve(port, CollectorRegistry(), lambda: problems)
    answered = probe(port)
    assert (answered.returncode, answered.stdout.strip()) == (status, output)


def test_a_process_with_problems_is_alive(tmp_path: Path) -> None:
    port = free_settings(tmp_path, tmp_path).health_port
    health.serve(port, CollectorRegistry(), lambda: ("Kafka is away",))
    answered = probe(port, "--alive")
    assert (answered.returncode, answered.stdout.strip()) == (0, "Kafka is away")


def test_it_fails_where_nothing_listens(tmp_path: Path) -> None:
    for options in ((), ("--alive",)):
        answered = probe(free_settings(tmp_path, tmp_path).health_port, *options)
        assert answered.returncode == 1
        assert "refused" in answered.stdout


def probe(port: int, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "counterflow.base.probe", *options]
    environment = {"COUNTERFLOW_PROBE_PORT": str(port)}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
