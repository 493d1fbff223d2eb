"""The supervisor with parts that are small programs: what it does when they end, and when it is killed itself."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from counterflow.stack import supervision
from counterflow.stack.part import Part, scratch
from counterflow.stack.settings import StackSettings
from tests.support.waiting import until


def part(name: str, script: str, stop_s: int = 20) -> Part:
    return Part(name, ("sh", "-c", script), lambda _: "answers", stop_s=stop_s)


STUBBORN = "trap '' TERM; while true; do sleep 0.1; done"
PARTS = (
    part("sleeper", "echo awake; exec sleep 1000"),
    part("stubborn", STUBBORN, stop_s=1),
    part("patient", STUBBORN, stop_s=1000),
    part("broken", "echo it fails; exit 3"),
)


@pytest.fixture
def supervised(tmp_path: Path) -> Iterator[StackSettings]:
    settings = StackSettings.from_environment({}, home=tmp_path)
    supervision.launch(settings, PARTS)
    yield settings
    if supervision.alive(settings):
        supervision.shutdown(settings)
    supervision.sweep(settings)


def state(settings: StackSettings, name: str) -> supervision.PartState:
    return supervision.states(settings)[name]


def started(settings: StackSettings, name: str) -> int:
    supervision.start(settings, name)
    until(lambda: state(settings, name).pid > 0, f"{name} runs")
    return state(settings, name).pid


def test_a_killed_part_is_started_again(supervised: StackSettings) -> None:
    log = supervised.logs / "sleeper.log"

    def has_written(times: int) -> None:
        until(lambda: log.exists() and log.read_text() == "awake\n" * times, f"{times} have written")

    pid = started(supervised, "sleeper")
    began = state(supervised, "sleeper").started_s
    has_written(1)
    time.sleep(1)
    os.kill(pid, signal.SIGKILL)
    until(lambda: state(supervised, "sleeper").pid not in (0, pid), "it runs again")
    assert state(supervised, "sleeper").started_s > began
    has_written(2)
    supervision.stop(supervised, "sleeper")
    assert state(supervised, "sleeper").state == "STOPPED"
    started(supervised, "sleeper")
    has_written(3)


def test_what_a_killed_part_left_is_gone_when_it_starts_again(supervised: StackSettings) -> None:
    first = started(supervised, "sleeper")
    left = scratch(supervised.home, "sleeper") / "left"
    until(left.parent.is_dir, "its folder is there")
    left.write_text("of no use")
    other = scratch(supervised.home, "stubborn") / "kept"
    started(supervised, "stubborn")
    until(other.parent.is_dir, "the other has its folder")
    other.write_text("in use")
    os.kill(first, signal.SIGKILL)
    until(lambda: state(supervised, "sleeper").pid not in (0, first), "sleeper runs again")
    until(lambda: left.parent.is_dir() and not left.exists(), "its folder is empty")
    assert other.exists()


def test_what_fails_is_tried_again_and_at_once_when_it_is_started_by_hand(supervised: StackSettings) -> None:
    """The wait behind the third try is three seconds long, and each later one is longer."""
    log = supervised.logs / "broken.log"

    def tries() -> int:
        return log.read_text().count("it fails\n") if log.exists() else 0

    supervision.start(supervised, "broken")
    until(lambda: tries() >= 3, "it is tried three times")
    until(lambda: state(supervised, "broken").state == "BACKOFF", "it waits")
    before = tries()
    supervision.start(supervised, "broken")
    until(lambda: tries() > before, "it is started at once", within_s=2)


def test_what_a_killed_supervisor_left_is_found_and_ended(supervised: StackSettings) -> None:
    pids = {name: started(supervised, name) for name in ("sleeper", "stubborn")}
    os.kill(state(supervised, "supervisor").pid, signal.SIGKILL)
    until(lambda: not supervision.alive(supervised), "the supervisor is gone")
    assert supervision.states(supervised) == {}
    until(
        lambda: set(pids.values()) <= {process.pid for process in supervision.processes(supervised)},
        "both are found: a process has its environment once it is its own program",
    )
    supervision.sweep(supervised, patience_s=1)
    assert supervision.processes(supervised) == []


def test_a_process_that_nobody_waits_for_keeps_no_stack_from_stopping(supervised: StackSettings) -> None:
    """Where no init process reaps what ended, as in some containers, it stays in the table of processes."""
    script = (
        "import subprocess, sys, time; child = subprocess.Popen(['sleep', '1000'], env=dict(COUNTERFLOW_STACK="
        "sys.argv[1], PATH=sys.argv[2])); print(child.pid, flush=True); time.sleep(1000)"
    )
    command = (sys.executable, "-c", script, str(supervised.home), os.environ["PATH"])
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as careless:
        assert careless.stdout
        child = psutil.Process(int(careless.stdout.readline()))
        until(lambda: child in supervision.processes(supervised), "it belongs to the stack")
        began = time.monotonic()
        supervision.sweep(supervised)
        assert time.monotonic() - began < 30
        assert child.status() == psutil.STATUS_ZOMBIE
        careless.kill()


def test_a_supervisor_that_is_ending_does_not_keep_the_stack_from_stopping(supervised: StackSettings) -> None:
    started(supervised, "patient")
    supervisor = psutil.Process(state(supervised, "supervisor").pid)
    supervisor.terminate()
    until(lambda: not supervision.alive(supervised), "the supervisor answers no more")
    assert supervisor.is_running(), "it waits for the part"
    assert supervision.processes(supervised)
    supervision.stop(supervised, "patient")
    supervision.shutdown(supervised)
    supervision.sweep(supervised, patience_s=1)
    assert not supervision.processes(supervised)


def test_a_home_of_a_long_name_has_its_socket_elsewhere() -> None:
    home = Path(tempfile.mkdtemp(prefix="x" * 100))
    settings = StackSettings.from_environment({}, home=home)
    try:
        supervision.launch(settings, ())
        assert supervision.alive(settings)
        supervision.shutdown(settings)
    finally:
        supervision.sweep(settings)
        shutil.rmtree(home)
