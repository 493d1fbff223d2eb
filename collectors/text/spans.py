"""Which times of a system were read, so that a sample that several documents or lists hold counts once.

A span is a pair of instants as records carry them: what lies after the first, up to and including the second, was read.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from counterflow.collectors.text.stamps import iso

Spans = list[list[str]]
"""JSON values, in the order of time; none touches another."""

MOST = 100
"""Spans that are remembered, the newest ones: documents without a gap between them are one span."""
_LONGEST_S = 86_400.0


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
    """The samples of one system in one document; `before` was read from the documents before it."""

    def __init__(self, before: Spans) -> None:
        self._before = before
        self._begins: dict[str, str] = {}

    def is_new(self, instant: datetime, seconds: float) -> bool:
        """Return whether the sample of the `seconds` before an instant was not read yet; it counts as read then."""
        ts = iso(instant)
        if ts in self._begins or holds(self._before, ts):
            return False
        self._begins[ts] = iso(instant - timedelta(seconds=min(seconds, _LONGEST_S)))
        return True

    def spans(self) -> Spans:
        """Return what was read with the end of this document: the time from its first sample to its last."""
        if not self._begins:
            return self._before
        return joined(self._before, min(self._begins.values()), max(self._begins))
