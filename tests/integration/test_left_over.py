"""A test run that is killed: the next run of the same checkout ends the processes it started, and no others."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests.support.left_over import VARIABLE, end_left_over, mark
from tests.support.waiting import PATIENCE_S

SLEEPER = [sys.executable, "-c", "import time; time.sleep(600)"]
RUN = f"""
import os, subprocess, sys
from pathlib import Path
from tests.support.left_over import VARIABLE, mark
os.environ[VARIABLE] = mark(checkout=Path(sys.argv[1]))
print(subprocess.Popen({SLEEPER!r}, start_new_session=True, stdout=subprocess.DEVNULL).pid, flush=True)
sys.stdin.read()
"""


@pytest.fixture
def run(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """A run of the checkout `tmp_path` that started one process and waits."""
    command = [sys.executable, "-c", RUN, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield process
        process.kill()


def test_what_a_killed_run_started_ends_with_the_next_run(run: subprocess.Popen[str], tmp_path: Path) -> None:
    assert run.stdout is not None
    started = psutil.Process(int(run.stdout.readline()))
    assert end_left_over(checkout=tmp_path) == [], "the run is at work"
    run.kill()
    run.wait()
    assert end_left_over(checkout=tmp_path / "another") == []
    assert end_left_over(checkout=tmp_path) == [started.pid]
    assert not started.is_running()


def test_a_process_that_ignores_the_request_is_killed_at_the_end_of_its_own_run(tmp_path: Path) -> None:
    own = mark(checkout=tmp_path)
    stubborn = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(flush=True); time.sleep(600)"
    command = [sys.executable, "-c", stubborn]
    with subprocess.Popen(command, env={**os.environ, VARIABLE: own}, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        assert end_left_over(own, checkout=tmp_path) == [process.pid]
        assert process.wait(PATIENCE_S) < 0
