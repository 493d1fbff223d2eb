"""What keeps the lander from its work is shown by `counterflow status` and the health of the stack."""

from __future__ import annotations

from pathlib import Path
from socket import socket

import pytest
from prometheus_client import CollectorRegistry

from counterflow.base import health
from counterflow.base.errors import CounterflowError
from counterflow.stack.parts import lander
from counterflow.stack.settings import StackSettings
from tests.support.ports import free_ports


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
