"""Faults 1 and 23: an agent that is killed at each named point, and a record that no broker accepts.

`python -m tests.faults.fault_agent POINT NTH agent run --config ...` is an agent that kills itself.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from counterflow.cli import main
from counterflow.collectors.agent.publisher import Publisher
from tests.faults.line import Line
from tests.integration.test_agent import Recording
from tests.support.agents import AgentProcess
from tests.support.waiting import until

REPOSITORY = Path(__file__).resolve().parents[2]
POINTS: dict[str, tuple[str, bool, tuple[int, ...]]] = {
    "the name is being taken over": ("_start", False, (1,)),
    "the name is taken over": ("start", True, (1,)),
    "a record is about to be sent": ("send", False, (1, 500)),
    "a record is sent": ("send", True, (1, 500)),
    "a commit begins, its checkpoint is not sent": ("_commit", False, (2, 5)),
    "a request for the topics, the name, the checkpoints, a commit is about to be made": (
        "_until",
        False,
        (1, 2, 3, 4, 5, 8),
    ),
    "the broker has answered": ("_until", True, (1, 2, 3, 4, 5, 8)),
    "a commit is done, but not yet known": ("_commit", True, (2, 5)),
}
"""Methods of the publisher, whether the process ends after them, and at which call."""


def killed(call: Callable[..., Any], nth: int, behind: bool) -> Callable[..., Any]:
    """Wrap `call` so that its n-th call ends the process."""
    times = iter(range(nth - 1, -1, -1))

    def wrapper(*arguments: Any, **named: Any) -> Any:
        last = next(times) == 0
        result = None if last and not behind else call(*arguments, **named)
        if last:
            os.kill(os.getpid(), signal.SIGKILL)
        return result

    return wrapper


def test_killed_at_every_named_point(line: Line, report: Callable[..., None]) -> None:
    began = time.monotonic()
    line.agent.stop()
    for point, (_, _, times) in POINTS.items():
        for nth in times:
            log = line.folder / "killed.log"
            run = ("agent", "run", "--config", str(line.agent.config), "--agent-id", line.name)
            words = ("tests.faults.fault_agent", point, str(nth), *run)
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


if __name__ == "__main__":
    _, point, nth, *words = sys.argv
    name, behind, _ = POINTS[point]
    setattr(Publisher, name, killed(getattr(Publisher, name), int(nth), behind))
    sys.argv = ["counterflow", *words]
    main()
