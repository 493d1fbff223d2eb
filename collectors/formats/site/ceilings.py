"""The ceiling that holds for a log at each time: that of the machine and storage then in use."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import NamedTuple

from counterflow.collectors.formats.site.entries import PATHS, Ceiling, Change, Path, Place, Timed


class Holding(NamedTuple):
    """From `since` on, a path of a subsystem on a system has this ceiling in MB/s of one copy; None: none is known."""

    since: datetime
    system: str
    subsystem: str
    path: Path
    cec: str
    storage: str
    ceiling_mb_s: float | None


def resolve(places: Sequence[Place], ceilings: Sequence[Ceiling], changes: Sequence[Change] = ()) -> Iterator[Holding]:
    """Yield the ceiling that holds at every time that is written down for a path, in order of time.

    Times without a change are included: a lookup of the newest row before a time is then right even if another edition
    of the file had something else for that time. A machine or storage without a ceiling of its own has none, whatever
    the one before it had.
    """
    for system, subsystem in dict.fromkeys((p.system, name) for p in places for name in p.subsystems):
        own = sorted((p for p in places if p.system == system and subsystem in p.subsystems), key=_since)
        for path in PATHS:
            measured = sorted((c for c in ceilings if (c.subsystem, c.path) == (subsystem, path)), key=_since)
            begun = (change for change in changes if system in change.systems)
            for since in sorted({e.since for e in (*own, *measured, *begun) if e.since >= own[0].since}):
                used = next(p for p in reversed(own) if p.since <= since)
                found = (
                    c.ceiling_mb_s
                    for c in reversed(measured)
                    if c.since <= since and (c.cec, c.storage) == (used.cec, used.storage)
                )
                yield Holding(since, system, subsystem, path, used.cec, used.storage, next(found, None))


def _since(entry: Timed) -> datetime:
    return entry.since
