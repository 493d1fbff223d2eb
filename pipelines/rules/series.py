"""What every rule does with the intervals of one entity: which can be judged, what a change forgets, when to leave."""

from __future__ import annotations

from datetime import datetime
from typing import Any, NamedTuple, Protocol

Configuration = tuple[Any, ...]


class Interval(Protocol):
    """What the intervals of all rules have: their end, their length, and whether the counters restarted in them."""

    @property
    def ts(self) -> datetime: ...

    @property
    def interval_s(self) -> float | None: ...

    @property
    def reset(self) -> bool: ...


class Newest(NamedTuple):
    """The newest interval of an entity.

    Parameters
    ----------
    end_s : its end, seconds since 1970; None before the first.
    interval_s : its length, as last known.
    judged_s : end of the newest interval that was judged.
    """

    end_s: float | None = None
    interval_s: float | None = None
    judged_s: float | None = None

    def precedes(self, interval: Interval) -> bool:
        """Return whether `interval` comes after all before it."""
        return self.end_s is None or interval.ts.timestamp() > self.end_s

    def silent_for(self, seconds: float, interval: Interval) -> bool:
        """Return whether nothing was judged for more than `seconds` before `interval`."""
        begin_s = interval.ts.timestamp() - (interval.interval_s or 0)
        return self.judged_s is not None and begin_s - self.judged_s > seconds

    def no_verdict(self, interval: Interval, gap_factor: float) -> str | None:
        """Return why the interval's place in the series allows no verdict, if so."""
        if interval.reset:
            return "the counters restarted"
        if not interval.interval_s:
            return "length of the interval unknown"
        if self.end_s is None:
            return None
        now = interval.ts.timestamp()
        if now <= self.end_s:
            return "not after the newest interval"
        nominal = min(interval.interval_s, self.interval_s or interval.interval_s)
        length = max(now - self.end_s, interval.interval_s)
        if length > gap_factor * nominal:
            return f"{length:.6g} s since the preceding interval, more than {gap_factor:g} x {nominal:.6g} s"
        return None

    def passed(self, interval: Interval) -> Newest:
        """Return it after an interval without a verdict; one of the past changes nothing."""
        if not self.precedes(interval):
            return self
        return self._replace(end_s=interval.ts.timestamp(), interval_s=interval.interval_s or self.interval_s)


def judged(interval: Interval) -> Newest:
    """Return the newest interval after one with a verdict."""
    end_s = interval.ts.timestamp()
    return Newest(end_s, interval.interval_s, end_s)


def changed(before: Configuration, now: Configuration) -> tuple[Configuration, bool]:
    """Return the configuration as last known, and whether it changed: a None is unknown, hence no change."""
    before = before or now
    known = tuple([old if new is None else new for new, old in zip(now, before, strict=True)])
    return known, any(old is not None and new != old for new, old in zip(known, before, strict=True))


def left(before: str, signal: str, condition: str | None, clearing: int, clear_after: int) -> tuple[str, int, str]:
    """Return the state to show, the intervals with a condition for leaving, and both in words.

    Parameters
    ----------
    before, signal : a raised state, and the lesser signal of this interval.
    condition : by which `before` could be left; None where none holds.
    clearing : intervals before this one, without a break, in which one held; after `clear_after` it is left.
    """
    if condition is None:
        return before, 0, ""
    clearing += 1
    words = f"; {condition}: {clearing} of {clear_after} intervals to leave {before}"
    return signal if clearing >= clear_after else before, clearing, words


def least(holds: bool) -> str:
    """Return how a value compares with a threshold that it reaches, or does not."""
    return "at least" if holds else "less than"
