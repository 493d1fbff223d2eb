"""Which times of a system were read, so that a sample that several documents or lists hold counts once.

A span is a pair of instants as records carry them: what lies after the first, up to and including the second, was read.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta

from counterflow.collectors.text.periods import gap, is_gap
from counterflow.collectors.text.stamps import iso

Spans = list[list[str]]
"""JSON values, in the order of time; none touches another."""

MOST = 100
"""Spans that are remembered, the newest ones: documents without a gap between them are one span."""
_LONGEST_S = 86_400.0


def _written(instant: datetime) -> str:
    """Return an instant as text whose order is that of time."""
    return instant.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def holds(spans: Spans, ts: str) -> bool:
    return any(begin < ts <= end for begin, end in spans)


def joined(spans: Spans, begin: str, end: str) -> Spans:
    """Return the spans with one more; those that touch become one."""
    found: Spans = []
    for first, last in sorted([*spans, [begin, end]]):
        if found and first <= found[-1][1]:
            found[-1][1] = max(found[-1][1], last)
        else:
            found.append([first, last])
    return found[-MOST:]


class Samples:
    """The samples of one system in one document; `before` was read from the documents before it.

    `repeated` is how many of them were read before.
    """

    def __init__(self, before: Spans, system: str) -> None:
        self.system = system
        self.repeated = 0
        self._before = before
        self._read: dict[str, tuple[datetime, float]] = {}

    def is_new(self, instant: datetime, seconds: float) -> bool:
        """Return whether the sample of the `seconds` before an instant was not read yet; it counts as read then."""
        ts = _written(instant)
        if ts in self._read or holds(self._before, ts):
            self.repeated += 1
            return False
        self._read[ts] = instant, min(seconds, _LONGEST_S)
        return True

    def spans(self) -> Spans:
        """Return what was read with the end of this document; a time in which no sample fits is no gap."""
        spans = self._before
        for first, last in self._without_gaps(lambda apart_s, seconds: apart_s >= seconds):
            spans = joined(spans, _written(first), _written(last))
        return spans

    def gaps(self) -> list[tuple[str, str]]:
        """Return the gaps before samples of this document, in order: the instant behind each, and its words."""
        found, ends = [], sorted(end for _, end in self._before)
        for first, last in self._without_gaps(lambda apart_s, seconds: is_gap(apart_s + seconds, seconds)):
            begin = _written(first)
            if at := bisect_right(ends, begin):
                ts, seconds = self._first_behind(first)
                before = datetime.fromisoformat(ends[at - 1])
                apart_s = (first - before).total_seconds()
                if is_gap(apart_s + seconds, seconds):
                    found.append((ts, f"no sample from {iso(before)} to {iso(first)}: {gap(apart_s, seconds)}"))
            insort(ends, _written(last))
        return found

    def _first_behind(self, begin: datetime) -> tuple[str, float]:
        instant, seconds = min(read for read in self._read.values() if read[0] >= begin)
        return iso(instant), seconds

    def _without_gaps(self, is_apart: Callable[[float, float], bool]) -> Iterator[tuple[datetime, datetime]]:
        """Yield begin and end of the times between two gaps; `is_apart` decides by distance and length of a sample."""
        first: datetime | None = None
        last = datetime.min.replace(tzinfo=UTC)
        for instant, seconds in sorted(self._read.values()):
            begin = instant - timedelta(seconds=seconds)
            if first is not None and is_apart((begin - last).total_seconds(), seconds):
                yield first, last
                first = None
            first, last = first or begin, instant
        if first is not None:
            yield first, last
