"""Faults 2 and 8: full disks. The stack's folders are disks of their own, which shrink (disks.py)."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

from counterflow.stack import lifecycle, supervision
from tests.faults.disks import full
from tests.faults.line import Line
from tests.support.agents import AgentProcess
from tests.support.waiting import until


def answers(line: Line, *parts: str) -> bool:
    return all(part.state == "running" for part in lifecycle.status(line.stack) if part.name in parts)


def test_full_under_the_broker(line: Line, report: Callable[..., None]) -> None:
    line.burst = 20
    with full(line.stack.kafka_home / "data"):
        until(lambda: supervision.states(line.stack)["kafka"].state == "BACKOFF" or not answers(line, "kafka"))
        time.sleep(15)
        kafka = next(part for part in lifecycle.status(line.stack) if part.name == "kafka")
        print(kafka)
    line.burst = 1
    report(8, line.back(), line.oracle())


def test_full_under_clickhouse(line: Line, report: Callable[..., None]) -> None:
    line.burst = 10
    with full(line.stack.clickhouse_home / "data"):
        log = line.stack.logs / "lander.log"
        until(lambda: "NOT_ENOUGH_SPACE" in log.read_text() or "No space left" in log.read_text())
        time.sleep(10)
    line.burst = 1
    report(2, line.back(), line.oracle())


def test_full_under_the_checkpoints(line: Line, report: Callable[..., None]) -> None:
    before = line.failed_checkpoints()
    with full(line.stack.flink_checkpoints, left=0):
        line.request_checkpoints(before)
        until(lambda: all(failed > before[job_id] for job_id, failed in line.failed_checkpoints().items()))
        line.kill("taskmanager")
        time.sleep(5)
    report(2, line.back(), line.oracle())


def test_full_under_logs_and_agent(line: Line, report: Callable[..., None]) -> None:
    """No part ends because it cannot write its log."""
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
        until(lambda: answers(line, *parts))
        supervision.stop(line.stack, "clickhouse")  # so that the others write much to their logs
        time.sleep(5)
        lifecycle.start(line.stack, "clickhouse")
        line.back()
        found = {name: state.state for name, state in supervision.states(line.stack).items()}
        assert "BACKOFF" not in found.values(), found
        assert line.agent.process.poll() is None
        report(2, max(seconds, time.monotonic() - began), line.oracle())
    finally:
        for log in logs:
            log.unlink()
            log.with_suffix(".aside").rename(log)
        for part in ("lander", "exporter", "jobs", "kafka", "clickhouse"):
            supervision.stop(line.stack, part)
        lifecycle.start(line.stack, *parts)
