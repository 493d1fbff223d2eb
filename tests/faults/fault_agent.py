"""Faults 1 and 23: an agent that is killed at each named point, and a record that no broker accepts."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

from tests.faults.agent_killed_at import POINTS
from tests.faults.line import Line
from tests.integration.test_agent import Recording
from tests.support.agents import AgentProcess
from tests.support.waiting import until

REPOSITORY = Path(__file__).resolve().parents[2]


def test_killed_at_every_named_point(line: Line, report: Callable[..., None]) -> None:
    began = time.monotonic()
    line.agent.stop()
    for point, (_, _, times) in POINTS.items():
        for nth in times:
            log = line.folder / "killed.log"
            run = ("agent", "run", "--config", str(line.agent.config), "--agent-id", line.name)
            words = ("tests.faults.agent_killed_at", point, str(nth), *run)
            with AgentProcess([sys.executable, "-m", *words], log, cwd=REPOSITORY) as agent:
                until(lambda agent=agent: agent.process.poll() is not None, log)  # type: ignore[misc]
                assert agent.process.returncode == -signal.SIGKILL, log.read_text()
    line.agent = line.new_agent()
    line.back()
    report(1, time.monotonic() - began, line.oracle())


def test_a_record_over_the_brokers_size(line: Line, report: Callable[..., None]) -> None:
    huge = Recording(line.folder / "huge.nmon", f"{line.name}-huge")
    huge.start = line.recordings[0].start
    with huge.path.open("a") as out:
        out.write(f"AAA,note,{'x' * 5_000_000}\n")
    huge.append(20)
    line.files.append(huge.path)
    seconds = line.back()
    verdict = line.oracle()
    assert verdict.deadletter == 1
    report(23, seconds, verdict)
