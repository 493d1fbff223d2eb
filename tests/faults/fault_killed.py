"""Faults 6, 9, 10, 14 and 16: SIGKILL of each part while it works, one at a time, and of the supervisor."""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest

from counterflow.stack import lifecycle, supervision
from tests.faults.folders import Folder, audited
from tests.faults.line import PARTS, Line
from tests.support.waiting import until

NUMBERS = {"agent": 1, "kafka": 6, "taskmanager": 9, "jobmanager": 10, "lander": 14, "clickhouse": 16, "exporter": 24}


@pytest.mark.parametrize("part", NUMBERS)
def test_killed(line: Line, report: Callable[..., None], part: str) -> None:
    log = line.stack.logs / "jobmanager.log"
    before = log.stat().st_size
    time.sleep(random.uniform(0, 2))
    began = time.monotonic()
    killed = line.kill(part)
    until(lambda: line.pid(part) not in (0, killed))
    until(lambda: all(found.state == "running" for found in lifecycle.status(line.stack)), within_s=180)
    line.back()
    report(NUMBERS[part], time.monotonic() - began, line.oracle())
    assert b"NoResourceAvailableException" not in log.read_bytes()[before:], "jobs did not wait for the TaskManager"


def test_supervisor_killed(line: Line) -> None:
    line.kill("supervisor")
    until(lambda: not supervision.alive(line.stack))
    line.back()
    assert "that a killed supervisor left" in line.counterflow("status").stdout
    assert line.counterflow("up").returncode == 0
    line.back()
    line.kill("lander")
    line.back()
    assert line.oracle().right


def test_killed_at_random(line: Line, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """As many kills as `--kills` sets, over all parts, between them a pause from none to a whole recovery.

    Meanwhile folders of recordings are published. In the middle ClickHouse is frozen until the lander has paused its
    partitions; then the broker is frozen for longer than a session of a consumer, and killed.
    """
    seed = random.randrange(10**9)
    print(f"seed {seed}")
    chance = random.Random(seed)
    kills = request.config.getoption("--kills")
    with ExitStack() as published:
        folders = [published.enter_context(Folder(line, tmp_path / f"folder{n}")) for n in range(3)]
        for number in range(kills):
            if number == kills // 2:
                kill_broker_while_reading_is_paused(line)
            victim = chance.choice([*PARTS, "agent", *folders])
            victim.kill() if isinstance(victim, Folder) else line.kill(victim)
            time.sleep(chance.choice([chance.uniform(0, 0.5), chance.uniform(0, 5), chance.uniform(5, 20)]))
            if number % 25 == 24:
                line.back()
        line.back()
        for folder in folders:
            folder.wait()
    until(lambda: all(found.state == "running" for found in lifecycle.status(line.stack)), within_s=180)
    written = {folder.name: folder.written() for folder in folders}
    until(lambda: {name: line.counted(name) for name in written} == written, within_s=180, every_s=1)
    right = {name: {"pending": 0, "lost": 0, "wrong": 0} for name in written}
    until(lambda: audited(line, written) == right, within_s=300, every_s=1)
    assert line.oracle().right


def kill_broker_while_reading_is_paused(line: Line) -> None:
    """Freeze ClickHouse until inserts have failed, then lose the broker, then let ClickHouse continue."""
    until(lambda: line.pid("clickhouse") and line.pid("kafka"))
    engine = line.pid("clickhouse")
    os.kill(engine, signal.SIGSTOP)
    try:
        until(lambda: "inserts in a row failed" in line.health(line.stack.lander_metrics_port))
        broker = line.pid("kafka")
        os.kill(broker, signal.SIGSTOP)
        time.sleep(15)
        os.kill(broker, signal.SIGKILL)
        until(lambda: line.pid("kafka") not in (0, broker))
    finally:
        os.kill(engine, signal.SIGCONT)
