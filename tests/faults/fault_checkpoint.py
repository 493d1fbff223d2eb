"""Fault 11: the newest checkpoint of every job is damaged when it is needed."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from counterflow.pipelines.submission import listing
from counterflow.stack.jobs import cluster
from counterflow.stack.settings import StackSettings
from tests.faults.line import Line


def checkpoints(stack: StackSettings, job_id: str | None) -> list[Path]:
    """Return the complete checkpoints of a job, the newest last."""
    made = (path.parent for path in stack.flink.checkpoints.glob(f"*/{job_id}/chk-*/_metadata"))
    return sorted(made, key=lambda path: int(path.name.removeprefix("chk-")))


def of_each_job(stack: StackSettings) -> list[list[Path]]:
    """Return the checkpoints of each running job; a job that was submitted again has new ones."""
    return [checkpoints(stack, found.job_id) for found in listing(cluster(stack))]


@pytest.mark.parametrize("part", ["jobmanager", "taskmanager"])
def test_newest_checkpoint_damaged(line: Line, report: Callable[..., None], part: str) -> None:
    for _ in range(2):
        line.checkpoint()
    made = of_each_job(line.stack)
    assert all(len(checkpoints) > 1 for checkpoints in made)
    began = time.monotonic()
    line.kill(part)
    for checkpoints in made:
        for file in checkpoints[-1].iterdir():
            file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    line.back(300)
    line.checkpoint(300)
    report(11, time.monotonic() - began, line.oracle())
