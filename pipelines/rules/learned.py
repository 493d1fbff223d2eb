"""Learns a limit that nobody configured from the intervals that were under pressure.

A learned limit warns and never pages: it is what was reached, not what can be reached. docs/rules/index.md has its
terms. Standard library only, as all rules.
"""

from __future__ import annotations

from math import ceil, exp, log
from typing import Any, NamedTuple

from counterflow.pipelines.rules.series import changed

WIDTH = log(1.01)
"""Logarithm of the ratio of one bucket to the next: a value is known to half a percent, in a state of few bytes."""


class Limit(NamedTuple):
    """A learned limit.

    Parameters
    ----------
    value : in the unit of what was learned.
    intervals : number of intervals under pressure that it is based on.
    spread : (value - median) / value of these; of a median limit, half the distance from the 10th to the 90th
        percentile / value.
    confidence : low, medium or high; a low one judges nothing.
    """

    value: float
    intervals: int
    spread: float
    confidence: str

    @property
    def usable(self) -> bool:
        """Whether verdicts may rest on it."""
        return self.confidence != "low"

    def as_json(self, name: str) -> dict[str, Any]:
        """Return its figures by name; `name` is that of the value."""
        names = (name, "learned_intervals", "learned_spread", "learned_confidence")
        return dict(zip(names, self, strict=True))


class Learned(NamedTuple):
    """Histogram of positive values under one configuration: (bucket, count) in order."""

    configuration: tuple[Any, ...] = ()
    buckets: tuple[tuple[int, int], ...] = ()

    def under(self, configuration: tuple[Any, ...]) -> Learned:
        """Return the values under `configuration`: none if it is another; a None in it is unknown, hence no change."""
        known, other = changed(self.configuration, configuration)
        return Learned(known) if other else self._replace(configuration=known)

    def plus(self, value: float) -> Learned:
        """Return it with one more value; a value of 0 or less is none."""
        if value <= 0:
            return self
        counts = dict(self.buckets)
        bucket = round(log(value) / WIDTH)
        counts[bucket] = counts.get(bucket, 0) + 1
        return self._replace(buckets=tuple(sorted(counts.items())))

    def quantiles(self, *shares: float) -> list[float]:
        """Return the values that these shares of all values, in rising order, do not exceed, to half a percent."""
        intervals, buckets, reached, bucket = self.intervals, iter(self.buckets), 0, 0
        found = []
        for share in shares:
            rank = max(1, ceil(share * intervals))
            while reached < rank:
                bucket, count = next(buckets)
                reached += count
            found.append(exp(bucket * WIDTH))
        return found

    @property
    def intervals(self) -> int:
        """Number of intervals that gave a value."""
        return sum([count for _, count in self.buckets])

    def highest(self, least: int, most_spread: float) -> Limit | None:
        """Return the 99.5th percentile as a limit, None without a value: what a path reaches when all wait for it."""
        if not self.buckets:
            return None
        median, value = self.quantiles(0.5, 0.995)
        return self._limit(value, (value - median) / value, least, most_spread)

    def middle(self, least: int, most_spread: float) -> Limit | None:
        """Return the median as a limit, None without a value: what a regulated port settles at."""
        if not self.buckets:
            return None
        low, value, high = self.quantiles(0.1, 0.5, 0.9)
        return self._limit(value, (high - low) / 2 / value, least, most_spread)

    def _limit(self, value: float, spread: float, least: int, most_spread: float) -> Limit:
        intervals = self.intervals
        sure = intervals >= 5 * least and spread <= most_spread / 2
        usable = intervals >= least and spread <= most_spread
        return Limit(value, intervals, spread, "high" if sure else "medium" if usable else "low")
