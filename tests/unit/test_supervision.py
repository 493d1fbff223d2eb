"""The supervisor with parts that are small programs: what it does when they end, and when it is killed itself."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import psutil
import pytest
from prometheus_client import CollectorRegistry, Counter

from counterflow.base import health
from counterflow.stack import supervision
from counterflow.stack.launch import scratch
from counterflow.stack.part import Part
from counterflow.stack.settings import StackSettings
from tests.support.ports import free_ports


def part(name: str, script: str, stop_s: int = 20) -> Part:
    return Part(name, ("sh", "-c", script), lambda _: "answers", stop_s=stop_s)


PARTS = (
    part("sleeper", "echo awake; exec sleep 1000"),
    part("stubborn", "trap '' TERM; while true; do sleep 0.1; done", stop_s=1),
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


def until(met: Callable[[], bool], what: str, timeout_s: float = 20) -> None:
    end = time.monotonic() + timeout_s
    while not met():
        assert time.monotonic() < end, what
        time.sleep(0.05)


def state(settings: StackSettings, name: str) -> supervision.PartState:
    return supervision.states(settings)[name]


def started(settings: StackSettings, name: str) -> int:
    supervision.start(settings, name)
    until(lambda: state(settings, name).pid > 0, f"{name} runs")
    return state(settings, name).pid


def kill_supervisor(settings: StackSettings) -> None:
    supervisor = psutil.Process(state(settings, "supervisor").pid)
    supervisor.kill()
    until(lambda: not supervision.alive(settings), "the supervisor is gone")


def test_a_killed_part_is_started_again_and_counted(supervised: StackSettings) -> None:
    log = supervised.logs / "sleeper.log"

    def has_written(times: int) -> None:
        until(lambda: log.exists() and log.read_text() == "awake\n" * times, f"{times} have written")

    pid = started(supervised, "sleeper")
    assert state(supervised, "sleeper").restarts == 0
    has_written(1)
    os.kill(pid, signal.SIGKILL)
    until(lambda: state(supervised, "sleeper").pid not in (0, pid), "it runs again")
    assert state(supervised, "sleeper").restarts == 1
    has_written(2)
    supervision.stop(supervised, "sleeper")
    assert state(supervised, "sleeper").state == "STOPPED"
    started(supervised, "sleeper")
    assert state(supervised, "sleeper").restarts == 0, "this start was on purpose"
    has_written(3)


def test_what_a_killed_part_left_is_gone_when_it_starts_again(supervised: StackSettings) -> None:
    first = started(supervised, "sleeper")
    left = scratch(supervised.home, "sleeper") / "left"
    left.write_text("of no use")
    other = scratch(supervised.home, "stubborn") / "kept"
    started(supervised, "stubborn")
    other.write_text("in use")
    os.kill(first, signal.SIGKILL)
    until(lambda: state(supervised, "sleeper").pid not in (0, first), "sleeper runs again")
    assert list(left.parent.iterdir()) == []
    assert other.exists()


def test_what_fails_again_and_again_is_tried_at_longer_intervals(supervised: StackSettings) -> None:
    supervision.start(supervised, "broken")
    for failures, longest_s in ((1, 1), (2, 2), (3, 4)):
        until(lambda n=failures: state(supervised, "broken").failures == n, f"failure {failures}")  # type: ignore[misc]
        assert 0.5 * longest_s < state(supervised, "broken").wait_s <= longest_s
    assert state(supervised, "broken").state == "BACKOFF"
    assert (supervised.logs / "broken.log").read_text() == "it fails\n" * 3
    supervision.start(supervised, "broken")  # a start by hand does not wait
    until(lambda: (supervised.logs / "broken.log").read_text() == "it fails\n" * 4, "it is started at once", 2)


def test_parts_outlive_their_supervisor_and_the_next_one_takes_them_over(supervised: StackSettings) -> None:
    pids = {name: started(supervised, name) for name in ("sleeper", "stubborn")}
    kill_supervisor(supervised)
    assert {name: found.pid for name, found in supervision.states(supervised).items()} == pids
    supervision.launch(supervised, PARTS)
    assert {name: started(supervised, name) for name in pids} == pids, "they are the same processes"
    os.kill(pids["sleeper"], signal.SIGKILL)
    until(lambda: state(supervised, "sleeper").pid not in (0, pids["sleeper"]), "it is watched again")
    supervision.stop(supervised, "stubborn")
    assert state(supervised, "stubborn").pid == 0, "what takes no SIGTERM is killed"
    supervision.shutdown(supervised)
    assert supervision.processes(supervised) == []


def test_a_supervisor_that_is_ending_does_not_keep_the_stack_from_stopping(supervised: StackSettings) -> None:
    started(supervised, "stubborn")
    supervisor = psutil.Process(state(supervised, "supervisor").pid)
    supervisor.terminate()
    until(lambda: not supervision.alive(supervised), "the supervisor answers no more")
    assert supervisor.is_running(), "it waits for the part"
    assert state(supervised, "stubborn").pid
    supervision.stop(supervised, "stubborn")
    supervision.shutdown(supervised)
    supervision.sweep(supervised)
    assert not supervision.processes(supervised)


def test_a_log_that_became_long_is_cut_and_kept(supervised: StackSettings) -> None:
    started(supervised, "sleeper")
    log = supervised.logs / "sleeper.log"
    for number in range(1, 6):
        log.write_bytes(b"%d" % number + b"x" * 10_000_001)
        supervision.rotate(supervised)
        assert log.stat().st_size == 0
    assert [Path(f"{log}.{n}").read_bytes()[:1] for n in (1, 2, 3)] == [b"5", b"4", b"3"]
    assert len(list(supervised.logs.glob("sleeper.log.*"))) == 3


def test_a_log_that_cannot_be_copied_is_kept_with_those_before_it(supervised: StackSettings) -> None:
    """On a full disk; here no file may become larger than 5 MB."""
    started(supervised, "sleeper")
    log = supervised.logs / "sleeper.log"
    for number in range(1, 4):
        log.write_bytes(b"%d" % number + b"x" * 10_000_001)
        if number < 3:
            supervision.rotate(supervised)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (5_000_000, before[1]))
    try:
        supervision.rotate(supervised)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    kept = {found.name: found.read_bytes()[:1] for found in supervised.logs.glob("sleeper.log*")}
    assert kept == {"sleeper.log": b"3", "sleeper.log.1": b"2", "sleeper.log.2": b"1"}


def test_health_reports_what_is_wrong() -> None:
    [port], registry, wrong = free_ports(1), CollectorRegistry(), list[str]()
    Counter("things", "Things.", registry=registry).inc()
    health.serve(port, registry, lambda: wrong)

    def get(path: str) -> tuple[int, str]:
        answer = httpx.get(f"http://127.0.0.1:{port}{path}", trust_env=False)
        return answer.status_code, answer.text

    assert get("/healthz") == get("/health") == (200, "ok\n")
    assert "things_total 1.0" in get("/metrics")[1]
    wrong += ["the other thing", "one thing"]
    assert get("/healthz") == (503, "one thing\nthe other thing\n")


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
