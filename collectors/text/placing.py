"""Places samples apart whose stamps meet: of two in one second, and where a clock went back to instants of before.

A recorder's stamps resolve seconds. What it did decides: it takes a sample an interval after the one before. So no two
samples of a recording share an instant, and all together cover the time of the recording.
"""

from __future__ import annotations

from bisect import insort
from dataclasses import dataclass, field
from datetime import datetime, timedelta

_STAMPS = 32
"""Stamps that are remembered: a clock that goes back may meet them again."""
_ONE_SECOND = timedelta(seconds=1)
"""What stamps resolve."""
_BEYOND_S = 60.0
"""Far behind any stamp that is of the same second, however many samples are said to be missing."""


def in_one_second(before: datetime, stamp: datetime, steps: int, usual_s: float | None) -> datetime | None:
    """Return when a sample was taken whose stamp is of the second of the one before: an interval later.

    `before` is where the sample `steps` samples earlier was placed. The found instant is at most a second behind
    `stamp`. None where the stamp is of another second, or its clock went back.
    """
    if usual_s is None or usual_s > 1 or not timedelta() <= before - stamp <= 2 * _ONE_SECOND:
        return None
    found = before + timedelta(seconds=min(usual_s * steps, _BEYOND_S))
    return found if found - stamp <= _ONE_SECOND else before + (stamp + 2 * _ONE_SECOND - before) / 2


@dataclass
class Placed:
    """The stamps of a recording so far, JSON values: the latest in seconds since 1970 and in order.

    `times_back` is how often its clock went back, `late_ms` how far its last sample was placed behind its stamp.
    """

    stamps: list[int] = field(default_factory=list)
    times_back: int = 0
    late_ms: int = 0

    def of(self, instant: datetime) -> datetime:
        """Return the stamp of the last sample, which was placed at `instant`."""
        return instant - timedelta(milliseconds=self.late_ms)

    def place(self, stamp: datetime, before: datetime | None) -> datetime:
        """Return the instant of a sample; where its clock went back, none that a sample before it may have.

        `before` is the stamp of the sample before, None for the first of a run.
        """
        seconds = int(stamp.timestamp())
        if stamp <= before if before is not None else self.stamps and seconds <= self.stamps[-1]:
            self.times_back += 1
        is_forgotten = len(self.stamps) == _STAMPS and seconds < self.stamps[0]
        self.late_ms = self.times_back % 1000 if is_forgotten or seconds in self.stamps else 0
        insort(self.stamps, seconds)
        del self.stamps[:-_STAMPS]
        return stamp + timedelta(milliseconds=self.late_ms)
