"""A case: runs in order of time, the intervals of each with the share of its activity, and the files that show them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from random import Random
from typing import ClassVar, Generic, NamedTuple, TypeVar

from counterflow.simulate.spread import uneven


@dataclass(frozen=True, kw_only=True)
class SimulatedRun:
    """One measurement of a case.

    Parameters
    ----------
    name : unique within the case.
    intervals : its length.
    system : the one whose counters show it, where there is one.
    published : figures that the document prints, as printed.
    implied : figures that it does not print, computed from those it prints.
    """

    name: str
    intervals: int
    system: str = ""
    published: Mapping[str, str] = field(default_factory=dict)
    implied: Mapping[str, str] = field(default_factory=dict)

    @property
    def systems(self) -> tuple[str, ...]:
        """The systems whose counters show it."""
        return (self.system,)


R = TypeVar("R", bound=SimulatedRun, covariant=True)


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


class SimulatedFile(NamedTuple):
    """A file in the folder of its system; without one it names the systems itself, and is in `folder`."""

    system: str | None
    name: str
    lines: Iterable[str]
    folder: str = "SITE"


@dataclass(frozen=True)
class Case(ABC, Generic[R]):
    """Runs that follow each other; `document` is the page that separates the document's figures from assumptions.

    Parameters
    ----------
    title : with the section and the table or figure of the document.
    interval_s : length of an interval.
    runs : in order of time.
    noise : greatest deviation of an interval's rates from those of its run, as a ratio.
    pause : intervals between two runs.
    """

    document: ClassVar[str]
    title: str
    interval_s: int
    runs: tuple[R, ...]
    noise: float = 0.01
    pause: int = 0

    @abstractmethod
    def files(self, placed: Sequence[Placed[R]], seed: str) -> Iterator[SimulatedFile]:
        """Yield the files, each to be written before the next; `seed` determines the noise."""

    def place(self, start: datetime, random: Random) -> list[Placed[R]]:
        """Give every run its intervals, from `start` on, and spread its activity over them."""
        placed: list[Placed[R]] = []
        number = 0
        for run in self.runs:
            intervals = tuple(
                SimulatedInterval(n, start + timedelta(seconds=n * self.interval_s), self.interval_s)
                for n in range(number + 1, number + 1 + run.intervals)
            )
            placed.append(Placed(run, intervals, tuple(uneven(run.intervals, random, self.noise))))
            number += run.intervals + self.pause
        return placed
