"""CPU seconds, user and system, that a process or the parts of a stack have taken."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress

import psutil

from counterflow.stack import supervision
from counterflow.stack.settings import StackSettings


def of_process(process: psutil.Process) -> float:
    """Return those of one process, without its children."""
    times = process.cpu_times()
    return float(times.user + times.system)


def of_parts(settings: StackSettings) -> Counter[str]:
    """Return those of each part and its children by the part's name, including children that have ended."""
    found: Counter[str] = Counter()
    for name, state in supervision.states(settings).items():
        with suppress(psutil.NoSuchProcess):
            one = psutil.Process(state.pid)
            for process in [one, *(one.children(recursive=True) if name != "supervisor" else ())]:
                times = process.cpu_times()
                found[name] += times.user + times.system + times.children_user + times.children_system
    return found
