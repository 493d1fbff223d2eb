"""Jobs and processors with which a mirrored pair does the work of the node without mirroring, on one node or on both.

Pure; tables 7-2 and 7-3 of the study test it. docs/whatif.md derives each formula.
"""

from __future__ import annotations

from collections.abc import Sequence

from counterflow.analysis.studies.sizing import Estimate, UnmirroredNode, corners, queueing, sized


def jobs_to_hold(
    before: UnmirroredNode,
    think: float,
    rate: float,
    growth: float,
    added_s: float,
    cores: float,
    *,
    capacity: float = 1.0,
) -> float:
    """Return the jobs that do `rate` units a second on a node; infinite where its processors cannot do them.

    Little's law: rate * (time between units of a job + response with mirroring). The parameters are those of `sized`.
    """
    busy = rate * before.busy / before.rate * (1 + growth) / capacity
    idle = before.response_s / queueing(before.busy, before.cores)
    return rate * (think + idle * queueing(busy, cores) + added_s)


def cores_to_hold(
    cores: float, growth: Estimate, target: Estimate, capacity: float = 1.0
) -> tuple[Estimate, Estimate, Estimate]:
    """Return the processors that hold rate and utilisation: of the source, of the target, and of each active node.

    Active-active, each node does half of the units and applies those of the other.
    """

    def figures(growth: float, target: float) -> tuple[float, ...]:
        same = cores / capacity
        return same * (1 + growth), same * target, same / 2 * (1 + growth + target)

    source, applying, each = corners(figures, growth, target)
    return source, applying, each


def held(
    before: UnmirroredNode, think: float, growth: Estimate, target: Estimate, added_s: Estimate, capacity: float
) -> list[Estimate]:
    """Return what `JOBS` names, for two nodes with as many processors as the one without mirroring."""

    def figures(growth: float, target: float, added_s: float) -> Sequence[float]:
        jobs = jobs_to_hold(before, think, before.rate, growth, added_s, before.cores, capacity=capacity)
        both = growth + target
        half = jobs_to_hold(before, think, before.rate / 2, both, added_s, before.cores, capacity=capacity)
        node = sized(before, think, both, added_s, before.cores, jobs=0.5, capacity=capacity)
        busy_pct = 100 * node.busy / before.cores / capacity
        return jobs, 2 * half, 2 * node.rate, 1e3 * node.response_s, busy_pct

    return [*corners(figures, growth, target, added_s), *cores_to_hold(before.cores, growth, target, capacity)]


JOBS = {
    "jobs_needed": ("jobs", "jobs that hold units/s; the maximum of a connection pool must be at least that (7.2.7)"),
    "both_active_jobs": ("jobs of both nodes", "jobs that hold units/s where each node does half of the units"),
    "both_active_throughput_per_s": ("units/s of both nodes", "the same jobs, half of them on each node"),
    "both_active_response_ms": ("ms", "the same jobs, half of them on each node"),
    "both_active_busy_pct": ("% of each node's processors", "half of the units, and those of the other node applied"),
    "source_cores": ("processors of the source", "hold units/s and utilisation"),
    "target_cores": ("processors of the target", "hold the utilisation of the source"),
    "both_active_cores": ("processors of each node", "hold units/s and utilisation where each node does half"),
}
"""Unit and assumption of each figure of `held`."""
