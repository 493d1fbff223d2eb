"""Places runs in time: gives each its intervals and the share of its activity in each."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from random import Random
from typing import Generic, NamedTuple, TypeVar

from counterflow.simulate.spread import uneven


@dataclass(frozen=True, kw_only=True)
class Run(ABC):
    """One measurement of a case.

    Parameters
    ----------
    name : unique within the case.
    intervals : its length.
    published : figures that the document prints, as printed.
    implied : figures that it does not print, computed from those it prints.
    """

    name: str
    intervals: int
    published: Mapping[str, str] = field(default_factory=dict)
    implied: Mapping[str, str] = field(default_factory=dict)

    @property
    @abstractmethod
    def systems(self) -> tuple[str, ...]:
        """The systems whose counters show it."""


R = TypeVar("R", bound=Run, covariant=True)


class SimulatedInterval(NamedTuple):
    """One interval of a simulation: `number` counts from 1 through all runs."""

    number: int
    end: datetime
    seconds: int


class Placed(NamedTuple, Generic[R]):
    """A run in time: `weights` distribute its activity over its intervals."""

    run: R
    intervals: tuple[SimulatedInterval, ...]
    weights: tuple[float, ...]

    @property
    def begin(self) -> datetime:
        """Start of its first interval; every interval of the run ends later."""
        return self.intervals[0].end - timedelta(seconds=self.intervals[0].seconds)

    @property
    def end(self) -> datetime:
        return self.intervals[-1].end

    @property
    def seconds(self) -> int:
        """Its length."""
        return sum(interval.seconds for interval in self.intervals)


def place(
    runs: Sequence[R], interval_s: int, start: datetime, random: Random, noise: float, pause: int = 0
) -> list[Placed[R]]:
    """Give every run its intervals, from `start` on, and spread its activity over them.

    Parameters
    ----------
    runs : in order of time.
    interval_s : length of every interval.
    random, noise : greatest deviation of an interval's activity from the run's mean, as a ratio.
    pause : intervals between two runs.
    """
    placed: list[Placed[R]] = []
    number = 0
    for run in runs:
        intervals = tuple(
            SimulatedInterval(n, start + timedelta(seconds=n * interval_s), interval_s)
            for n in range(number + 1, number + 1 + run.intervals)
        )
        placed.append(Placed(run, intervals, tuple(uneven(run.intervals, random, noise))))
        number += run.intervals + pause
    return placed
