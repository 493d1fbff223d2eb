"""Formulas that size a mirrored pair: response, throughput, processors and jobs from a run without mirroring.

Pure; times are in seconds and rates a second unless a name has another unit. docs/whatif.md derives each formula, and
tables 7-2 and 7-3 of the study test those of jobs and processors.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from itertools import product
from statistics import fmean, stdev
from typing import NamedTuple

# two-sided 80 % points of Student's t for 1, 2, ... degrees of freedom
_T80 = (3.078, 1.886, 1.638, 1.533, 1.476, 1.440, 1.415, 1.397, 1.383)


class Estimate(NamedTuple):
    """A figure between its limits; `high` is infinite where nothing limits it."""

    value: float
    low: float
    high: float

    def times(self, factor: float) -> Estimate:
        """Return the interval multiplied by a factor of 0 or more."""
        return Estimate(*(factor * part for part in self)) if factor else exact(0.0)


class UnmirroredNode(NamedTuple):
    """A node without mirroring.

    Parameters
    ----------
    rate : units of work a second.
    response_s : mean response of a unit.
    busy : mean busy processors.
    cores : processors of the node.
    """

    rate: float
    response_s: float
    busy: float
    cores: float


class Sized(NamedTuple):
    """A node with mirroring: units a second, response of a unit, busy processors of the measured machine."""

    rate: float
    response_s: float
    busy: float


def exact(value: float) -> Estimate:
    """Return an interval without width."""
    return Estimate(value, value, value)


def spread(values: Sequence[float], floor: float = 0.0) -> Estimate:
    """Return the mean with the limits between which the next value lies in 8 of 10 cases (Student).

    One value has no spread: its limits are `floor` and infinity.

    Raises
    ------
    ValueError : there is no value.
    """
    if not values:
        raise ValueError("a spread needs a value")
    mean, n = fmean(values), len(values)
    if n == 1:
        return Estimate(mean, min(floor, mean), math.inf)
    half = _T80[min(n - 1, len(_T80)) - 1] * stdev(values) * math.sqrt(1 + 1 / n)
    return Estimate(mean, max(floor, mean - half), mean + half)


def apply_time(operations: float, changes: float, locks: float, pair_us: Estimate) -> Estimate:
    """Return the time that mirroring adds to these operations, s.

    Parameters
    ----------
    operations : row changes and reads for update.
    changes, locks : row changes; reads for update.
    pair_us : mirrored time of a read for update with its change, µs, from the least to the whole of it.

    The split of a pair is not published: an operation costs at least half of the least, at most a whole pair.
    """
    low, high = operations * pair_us.low / 2, max(changes, locks) * pair_us.high
    return Estimate((low + high) / 2 / 1e6, low / 1e6, high / 1e6)


def queueing(busy: float, cores: float) -> float:
    """Return response / response on idle processors: 1 / (1 - utilisation ^ cores); infinite where all are busy."""
    share = busy / cores
    return math.inf if share >= 1 else 1 / (1 - share**cores)


def think_s(work: UnmirroredNode, jobs: float) -> float:
    """Return the time between two units of a job, s: jobs / rate - response; negative where jobs hold several units."""
    return jobs / work.rate - work.response_s


def sized(
    before: UnmirroredNode,
    think: float,
    growth: float,
    added_s: float,
    cores: float,
    *,
    jobs: float = 1.0,
    capacity: float = 1.0,
) -> Sized:
    """Return the node with mirroring: the rate at which the jobs, their response and the processors agree.

    Parameters
    ----------
    think : time between two units of a job, s.
    growth : processors per unit that mirroring adds, relative to those without.
    added_s : wait that it adds to a unit.
    cores : processors of the node with mirroring.
    jobs : jobs with mirroring / jobs without.
    capacity : capacity of a processor of the other machine / of the measured one.
    """
    population = jobs * before.rate * (before.response_s + think)
    a_unit = before.busy / before.rate * (1 + growth)
    idle = before.response_s / queueing(before.busy, before.cores)
    low, high = 0.0, cores * capacity / a_unit if a_unit else population / max(think + idle + added_s, 1e-12)

    def response(rate: float) -> float:
        return idle * queueing(rate * a_unit / capacity, cores) + added_s

    for _ in range(100):
        rate = (low + high) / 2
        if rate * (think + response(rate)) < population:
            low = rate
        else:
            high = rate
    return Sized(low, population / low - think if low else math.inf, low * a_unit)


def corners(of: Callable[..., Sequence[float]], *inputs: Estimate) -> list[Estimate]:
    """Return each result of `of` at the inputs' values, with its least and largest over all of their limits."""
    ends: Iterable[tuple[float, ...]] = product(*((i.low, i.high) for i in inputs))
    at = [of(*end) for end in ends]
    value = of(*(i.value for i in inputs))
    limits = [value, *at]
    return [Estimate(value[k], min(r[k] for r in limits), max(r[k] for r in limits)) for k in range(len(value))]


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
    """Return the figures of `mirror.yaml` from `jobs_needed` on, for two nodes like the one without mirroring.

    They do the work of that node, on one of them or on both.
    """

    def figures(growth: float, target: float, added_s: float) -> Sequence[float]:
        jobs = jobs_to_hold(before, think, before.rate, growth, added_s, before.cores, capacity=capacity)
        both = growth + target
        half = jobs_to_hold(before, think, before.rate / 2, both, added_s, before.cores, capacity=capacity)
        node = sized(before, think, both, added_s, before.cores, jobs=0.5, capacity=capacity)
        busy_pct = 100 * node.busy / before.cores / capacity
        return jobs, 2 * half, 2 * node.rate, 1e3 * node.response_s, busy_pct

    return [*corners(figures, growth, target, added_s), *cores_to_hold(before.cores, growth, target, capacity)]
