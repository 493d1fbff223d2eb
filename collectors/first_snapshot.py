"""Which snapshot the means of processors leave out: one rule for `counterflow look --summary` and for studies."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TypeVar

Instant = TypeVar("Instant", str, float)


def left_out(snapshots: Iterable[Instant], with_processes: Collection[Instant]) -> Instant | None:
    """Return the first snapshot of a recording if it has no processes while others have, else None.

    nmon has nothing to compare the first processes with, so its first snapshot shows the system while the recorder
    starts. Without it, the means of processors cover the same time as those of the processes on them.
    """
    first = min(snapshots, default=None)
    return first if first is not None and with_processes and first not in with_processes else None
