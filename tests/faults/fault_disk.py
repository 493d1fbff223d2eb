"""Faults 2 and 8: full disks, each a tmpfs mounted over a folder, which takes a mount namespace: `make faults`."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

from counterflow.stack import lifecycle, supervision
from counterflow.stack.settings import StackSettings
from tests.faults.line import Line
from tests.support.agents import AgentProcess, until

ROOM = 128 << 20
LEFT = 1 << 20


@contextmanager
def disk_of_its_own(stack: StackSettings, folder: Path, *parts: str) -> Iterator[Path]:
    """Put what is in `folder` on a small disk while `parts` rest, and back at the end."""
    aside = folder.with_name(f"{folder.name}.aside")
    used = int(subprocess.run(["du", "-sB1", folder], check=True, capture_output=True, text=True).stdout.split()[0])
    stop(stack, *parts)
    copy(folder, aside)
    mount = ["mount", "-t", "tmpfs", "-o", f"size={used + ROOM}", "tmpfs", str(folder)]
    found = subprocess.run(mount, capture_output=True, text=True)
    assert found.returncode == 0, f"{found.stderr}: run it by `make faults`, which makes a mount namespace"
    try:
        copy(aside, folder)
        lifecycle.start(stack, *parts)
        yield folder
    finally:
        stop(stack, *parts)
        shutil.rmtree(aside)
        copy(folder, aside)
        subprocess.run(["umount", folder], check=True)
        shutil.rmtree(folder)
        aside.rename(folder)
        lifecycle.start(stack, *parts)


def stop(stack: StackSettings, *parts: str) -> None:
    for part in reversed(parts):
        supervision.stop(stack, part)


def copy(here: Path, there: Path) -> None:
    there.mkdir(exist_ok=True)
    subprocess.run(["cp", "--archive", "--sparse=always", f"{here}/.", there], check=True)


@contextmanager
def full(folder: Path, left: int = LEFT) -> Iterator[None]:
    """Fill the disk but for what is left, for as long as it lasts."""
    ballast = folder / "ballast"
    with ballast.open("wb") as out:
        os.posix_fallocate(out.fileno(), 0, psutil.disk_usage(str(folder)).free - left)
    try:
        yield
    finally:
        ballast.unlink()


def answers(line: Line, *parts: str) -> bool:
    return all(part.state == "running" for part in lifecycle.status(line.stack) if part.name in parts)


def test_full_under_the_broker(line: Line, report: Callable[..., None]) -> None:
    with disk_of_its_own(line.stack, line.stack.kafka_home / "data", "kafka") as disk:
        line.back()
        line.burst = 20
        with full(disk):
            until(lambda: supervision.states(line.stack)["kafka"].failures > 0 or not answers(line, "kafka"), 90)
            time.sleep(15)
            said = next(part for part in lifecycle.status(line.stack) if part.name == "kafka")
            print(said)
        line.burst = 1
        began = time.monotonic()
        line.back()
        report(8, time.monotonic() - began, line.oracle())


def test_full_under_clickhouse(line: Line, report: Callable[..., None]) -> None:
    with disk_of_its_own(line.stack, line.stack.clickhouse_home / "data", "clickhouse") as disk:
        line.back()
        line.burst = 10
        with full(disk):
            log = line.stack.logs / "lander.log"
            until(lambda: "NOT_ENOUGH_SPACE" in log.read_text() or "No space left" in log.read_text(), 90)
            time.sleep(10)
        line.burst = 1
        began = time.monotonic()
        line.back()
        report(2, time.monotonic() - began, line.oracle())


def test_full_under_the_checkpoints(line: Line, report: Callable[..., None]) -> None:
    flink = ("jobmanager", "taskmanager", "jobs")  # at rest while the disk changes: a checkpoint would be on both
    with disk_of_its_own(line.stack, line.stack.flink_checkpoints, *flink) as disk:
        line.back()
        with full(disk, left=0):
            time.sleep(35)  # a checkpoint
            line.kill("taskmanager")
            time.sleep(5)
        began = time.monotonic()
        line.back()
        report(2, time.monotonic() - began, line.oracle())


def test_full_under_logs_and_agent(line: Line, report: Callable[..., None]) -> None:
    """Nobody ends because he cannot write his log."""
    parts = ("kafka", "clickhouse", "jobmanager", "taskmanager", "lander", "exporter", "jobs", "health")
    logs = [line.stack.logs / f"{part}.log" for part in parts]
    for log in logs:
        log.rename(log.with_suffix(".aside"))
        log.symlink_to("/dev/full")
    try:
        line.agent.stop()
        command = [sys.executable, "-m", "counterflow", "agent", "run", "--config", str(line.agent.config)]
        command += ["--agent-id", line.name]
        line.agent.process = AgentProcess(command, Path("/dev/full")).process
        for part in ("lander", "exporter", "jobs", "kafka"):
            line.kill(part)
        began = time.monotonic()
        seconds = line.back()
        until(lambda: answers(line, *parts), 120)
        supervision.stop(line.stack, "clickhouse")  # so that the others have much to say
        time.sleep(5)
        lifecycle.start(line.stack, "clickhouse")
        line.back()
        found = {name: state.failures for name, state in supervision.states(line.stack).items()}
        assert not any(found.values()), found
        assert line.agent.process.poll() is None
        report(2, max(seconds, time.monotonic() - began), line.oracle())
    finally:
        for log in logs:
            log.unlink()
            log.with_suffix(".aside").rename(log)
        for part in ("lander", "exporter", "jobs", "kafka", "clickhouse"):
            supervision.stop(line.stack, part)
        lifecycle.start(line.stack, *parts)
