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
    """Return the figures of `mirror.yaml` from `jobs_needed` on, for two nodes like the one without mirroring."""

    def figures(growth: float, target: float, added_s: float) -> Sequence[float]:
        jobs = jobs_to_hold(before, think, before.rate, growth, added_s, before.cores, capacity=capacity)
        both = growth + target
        half = jobs_to_hold(before, think, before.rate / 2, both, added_s, before.cores, capacity=capacity)
        node = sized(before, think, both, added_s, before.cores, jobs=0.5, capacity=capacity)
        busy_pct = 100 * node.busy / before.cores / capacity
        return jobs, 2 * half, 2 * node.rate, 1e3 * node.response_s, busy_pct

    return [*corners(figures, growth, target, added_s), *cores_to_hold(before.cores, growth, target, capacity)]
