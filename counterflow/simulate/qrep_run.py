"""One run of a workload with or without Q Replication, with the figures of each node and queue."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from counterflow.simulate.timeline import Run


class Component(NamedTuple):
    """Processes of one command; `cpu_pct` is of all cores of the system, memory that of all of them together."""

    command: str
    processes: int
    cpu_pct: float
    memory_mb: float


@dataclass(frozen=True)
class Node:
    """One system during a run; sizes are totals of the run, in MB of 1,048,576 bytes."""

    system: str
    cpu_avg_pct: float
    cpu_max_pct: float
    components: tuple[Component, ...]
    read_mb: int
    written_mb: int


class Applied(NamedTuple):
    """Rows and transactions that a receive queue applied in a run, and its mean latencies."""

    rows: int
    transactions: int
    capture_ms: int
    queue_ms: int
    apply_ms: int


@dataclass(frozen=True, kw_only=True)
class QrepRun(Run):
    """One run of the workload; the driver is on the first node.

    Parameters
    ----------
    tps_min, tps_avg, tps_max : transactions of the workload a second, over intervals of the run.
    applied : replication from the first node to the second.
    """

    nodes: tuple[Node, ...]
    tps_min: int
    tps_avg: int
    tps_max: int
    applied: Applied | None = None

    @property
    def systems(self) -> tuple[str, ...]:
        return tuple(node.system for node in self.nodes)
