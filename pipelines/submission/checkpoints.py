"""Finds the checkpoints of a job: Flink writes them below the job's folder, in one folder for each Flink job id."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_COMPLETE = "_metadata"
"""The file that Flink writes last."""


def newest_first(folder: Path) -> list[Path]:
    """Return the complete checkpoints of a job, of all Flink job ids that it has had."""
    found = sorted(folder.glob(f"*/chk-*/{_COMPLETE}"), key=lambda path: path.stat().st_mtime_ns, reverse=True)
    return [path.parent for path in found]


def newest(folder: Path) -> Path | None:
    return next(iter(newest_first(folder)), None)


def set_aside(checkpoint: Path) -> None:
    """Leave out a checkpoint from which the job did not come back: repeated results change nothing."""
    (checkpoint / _COMPLETE).rename(checkpoint / f"{_COMPLETE}.not_restored")


@contextmanager
def locked(path: Path) -> Iterator[int]:
    """Lock a file, so that two commands cannot submit a job twice; yield its descriptor."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield lock.fileno()
