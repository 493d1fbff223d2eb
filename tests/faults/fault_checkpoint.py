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
    made = (path.parent for path in stack.flink_checkpoints.glob(f"*/{job_id}/chk-*/_metadata"))
    return sorted(made, key=lambda path: int(path.name.removeprefix("chk-")))


@pytest.mark.parametrize("part", ["jobmanager", "taskmanager"])
def test_newest_checkpoint_damaged(line: Line, report: Callable[..., None], part: str) -> None:
    for _ in range(2):
        line.checkpoint()
    job_ids = [found.job_id for found in listing(cluster(line.stack))]
    began = time.monotonic()
    line.kill(part)
    # listed after the kill: until then a newer one may complete, and an older one go
    for made in [checkpoints(line.stack, job_id) for job_id in job_ids]:
        assert len(made) > 1
        for file in made[-1].iterdir():
            file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    line.back(300)
    line.checkpoint(300)
    report(11, time.monotonic() - began, line.oracle())
