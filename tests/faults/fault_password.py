"""Fault 22: passwords that are wrong while data flows."""

from __future__ import annotations

import time
from collections.abc import Callable

from tests.faults.line import Line
from tests.support.waiting import until


def test_wrong_passwords_keep_records_waiting(line: Line, report: Callable[..., None]) -> None:
    """The lander and the agent are refused; both report it, and continue once they are accepted."""
    secrets = {name: line.stack.secrets / name for name in ("clickhouse-lander", "kafka-agent")}
    right = {name: file.read_text() for name, file in secrets.items()}
    try:
        for file in secrets.values():
            file.write_text("wrong")
        for part in ("lander", "agent"):
            line.kill(part)
        until(lambda: line.pid("lander"))
        until(lambda: "inserts in a row failed, the last with: 516" in line.health(line.stack.lander_metrics_port))
        until(lambda: "uthentication failed" in line.agent.log.read_text())
        assert line.agent.process.poll() is None
    finally:
        for name, file in secrets.items():
            file.write_text(right[name])
    began = time.monotonic()
    for part in ("lander", "agent"):
        line.kill(part)
    line.back()
    report(22, time.monotonic() - began, line.oracle())
