"""Faults 6, 9, 10, 14 and 16: SIGKILL of each part while it works, one at a time, and of the supervisor."""

from __future__ import annotations

import random
import time
from collections.abc import Callable

import pytest

from counterflow.stack import lifecycle, supervision
from tests.faults.line import PARTS, Line
from tests.support.agents import until

NUMBERS = {"agent": 1, "kafka": 6, "taskmanager": 9, "jobmanager": 10, "lander": 14, "clickhouse": 16, "exporter": 24}


@pytest.mark.parametrize("part", NUMBERS)
def test_killed(line: Line, report: Callable[..., None], part: str) -> None:
    log = line.stack.logs / "jobmanager.log"
    before = log.stat().st_size
    time.sleep(random.uniform(0, 2))
    began = time.monotonic()
    killed = line.kill(part)
    until(lambda: line.pid(part) not in (0, killed))
    until(lambda: all(found.state == "running" for found in lifecycle.status(line.stack)), 180)
    line.back()
    report(NUMBERS[part], time.monotonic() - began, line.oracle())
    assert b"NoResourceAvailableException" not in log.read_bytes()[before:], "jobs did not wait for the TaskManager"


def test_supervisor_killed_and_taken_over(line: Line) -> None:
    before = supervision.states(line.stack)
    line.kill("supervisor")
    until(lambda: not supervision.alive(line.stack))
    line.back()
    assert "supervisor is stopped: the running parts are unsupervised" in line.counterflow("status").stdout
    assert line.counterflow("up").returncode == 0
    after = supervision.states(line.stack)
    assert {name: state.pid for name, state in after.items() if name != "supervisor"} == {
        name: state.pid for name, state in before.items() if name != "supervisor"
    }
    line.kill("lander")
    line.back()
    assert supervision.states(line.stack)["lander"].restarts == before["lander"].restarts + 1
    assert line.oracle().right


def test_killed_at_random(line: Line, request: pytest.FixtureRequest) -> None:
    """As many kills as `--kills` sets, over all parts, between them a pause from none to a whole recovery."""
    seed = random.randrange(10**9)
    print(f"seed {seed}")
    chance = random.Random(seed)
    for number in range(request.config.getoption("--kills")):
        line.kill(chance.choice([*PARTS, "agent"]))
        time.sleep(chance.choice([chance.uniform(0, 0.5), chance.uniform(0, 5), chance.uniform(5, 20)]))
        if number % 25 == 24:
            line.back()
    line.back()
    until(lambda: all(found.state == "running" for found in lifecycle.status(line.stack)), 180)
    line.checkpoint(180)
    verdict = line.oracle()
    assert verdict.right, (seed, verdict)
