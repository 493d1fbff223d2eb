"""Disks that become full: each a tmpfs over a folder of the stack, in a mount namespace of `make faults`."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

from counterflow.stack.settings import StackSettings
from tests.support.waiting import until

_BYTES = 4 << 30
"""More than a run writes; what is not written takes no memory."""


def mount(stack: StackSettings) -> None:
    """Put the data of broker and engine, and the checkpoints, on disks of their own; before the stack starts."""
    for folder in (stack.kafka_home / "data", stack.clickhouse_home / "data", stack.flink_checkpoints):
        folder.mkdir(parents=True)
        assert _mount(folder, f"size={_BYTES}")


@contextmanager
def full(folder: Path, left: int = 1 << 20) -> Iterator[None]:
    """Leave only this many bytes free on a disk, until the block ends."""
    # repeated if something was written after its size was read
    until(lambda: _mount(folder, f"remount,size={psutil.disk_usage(str(folder)).used + left}"))
    try:
        yield
    finally:
        assert _mount(folder, f"remount,size={_BYTES}")


def _mount(folder: Path, options: str) -> bool:
    command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0
