"""Fault 11: the newest checkpoint of every job is damaged when it is needed."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from counterflow.pipelines.jobs import listing
from counterflow.stack.jobs import cluster
from counterflow.stack.settings import StackSettings
from tests.agents import until
from tests.faults.line import Line


def checkpoints(stack: StackSettings, job_id: str | None) -> list[Path]:
    """The whole checkpoints of a job, the newest last."""
    made = (path.parent for path in (stack.flink_checkpoints / str(job_id)).glob("chk-*/_metadata"))
    return sorted(made, key=lambda path: int(path.name.removeprefix("chk-")))


@pytest.mark.parametrize("part", ["jobmanager", "taskmanager"])
def test_newest_checkpoint_damaged(line: Line, report: Callable[..., None], part: str) -> None:
    ids = [found.job_id for found in listing(cluster(line.stack))]
    until(lambda: all(len(checkpoints(line.stack, job_id)) == 2 for job_id in ids), 90)
    began = time.monotonic()
    line.kill(part)
    for job_id in ids:
        for file in checkpoints(line.stack, job_id)[-1].iterdir():
            file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    line.back(300)
    report(11, time.monotonic() - began, line.oracle())
