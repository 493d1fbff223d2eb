"""Processes that an interrupted test run left behind: children inherit the run's mark in their environment."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

import psutil

VARIABLE = "COUNTERFLOW_TESTS"
_CHECKOUT = Path(__file__).resolve().parents[2]


def mark(process: psutil.Process | None = None, checkout: Path = _CHECKOUT) -> str:
    """Return the mark of a run: process id and start of its first process, then the checkout that is tested."""
    process = process or psutil.Process()
    return f"{process.pid} {process.create_time()} {checkout}"


def end_left_over(own: str | None = None, checkout: Path = _CHECKOUT) -> list[int]:
    """End the processes of runs of this checkout whose first process is gone, and those of `own`; return their ids.

    A process gets SIGTERM, and SIGKILL after ten seconds; the calling process is spared.
    """
    found = [process for process in psutil.process_iter() if _is_left_over(process, own, checkout)]
    for process in found:
        _signal(process, kill=False)
    for process in psutil.wait_procs(found, timeout=10)[1]:
        _signal(process, kill=True)
    return [process.pid for process in found]


def _is_left_over(process: psutil.Process, own: str | None, checkout: Path) -> bool:
    try:
        carried = process.environ().get(VARIABLE, "")
    except (psutil.Error, OSError):
        return False
    pid, started, of, *_ = [*carried.split(" ", 2), "", "", ""]
    if of != str(checkout) or process.pid == os.getpid():
        return False
    return carried == own or not _runs(int(pid), float(started))


def _runs(pid: int, started: float) -> bool:
    try:
        # The start is counted from the machine's boot time, which moves when the clock is adjusted.
        return abs(psutil.Process(pid).create_time() - started) < 5
    except psutil.NoSuchProcess:
        return False


def _signal(process: psutil.Process, *, kill: bool) -> None:
    with suppress(psutil.NoSuchProcess):
        process.kill() if kill else process.terminate()
