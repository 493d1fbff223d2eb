"""Faults 7 and 15: Kafka and ClickHouse are down for long, or frozen, while input grows."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import psutil

from counterflow.stack import lifecycle, supervision
from tests.faults.line import Line

AWAY_S = 45
"""At most; an agent reports a silent broker after 30."""
MOST_BYTES = {"agent": 300 << 20, "lander": 600 << 20}


def resident(line: Line) -> dict[str, int]:
    pids = {"agent": line.agent.process.pid, "lander": supervision.states(line.stack)["lander"].pid}
    return {name: psutil.Process(pid).memory_info().rss for name, pid in pids.items() if pid}


@contextmanager
def away(line: Line, part: str, burst: int) -> Iterator[None]:
    """Stop a part, while more is written than usual, until the block ends."""
    supervision.stop(line.stack, part)
    line.burst = burst
    try:
        yield
    finally:
        line.burst = 1
        lifecycle.start(line.stack, part)


def watch(line: Line, seconds: float, reported: Callable[[], bool] = lambda: False) -> None:
    """Let the load continue, until something is reported, and check that no process fills its memory with records."""
    end = time.monotonic() + seconds
    while time.monotonic() < end and not reported():
        for name, found in resident(line).items():
            assert found < MOST_BYTES[name], (name, found)
        time.sleep(0.5)


def test_broker_away_while_input_grows(line: Line, report: Callable[..., None]) -> None:
    with away(line, "kafka", burst=20):  # 4,000 records a second, so that there is something to hold back
        watch(line, AWAY_S, lambda: "nothing was committed for" in line.health(line.metrics_port))
        assert line.agent.process.poll() is None
        assert "nothing was committed for" in line.health(line.metrics_port)
        lander = line.health(line.stack.lander_metrics_port)  # while it commits, it checks nothing else
        assert "Kafka does not answer" in lander or "nothing was read for" in lander
        assert "kafka is stopped" in line.health(line.stack.health_port)
    report(7, line.back(), line.oracle())


def test_clickhouse_away_and_then_frozen(line: Line, report: Callable[..., None]) -> None:
    with away(line, "clickhouse", burst=5):
        watch(line, AWAY_S / 2)
        assert "inserts in a row failed" in line.health(line.stack.lander_metrics_port)
        assert line.health(line.metrics_port) == "ok\n"
    began = time.monotonic()
    line.back()
    pid = supervision.states(line.stack)["clickhouse"].pid
    for _ in range(3):  # frozen, it accepts a request, and answers once it continues
        os.kill(pid, signal.SIGSTOP)
        watch(line, 6)
        os.kill(pid, signal.SIGCONT)
        time.sleep(0.5)
    report(15, time.monotonic() - began, line.oracle())
