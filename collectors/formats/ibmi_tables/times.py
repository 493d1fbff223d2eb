"""When the rows of a table were sampled.

UTCTIME is UTC. DATETIME and DTETIM (`yymmddhhmmss`, century in DTECEN or DTCEN) are local time, in the zone that is
configured. All of them are the end of the interval: the last of a day ends at 00:00 of the next.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, tzinfo
from typing import NamedTuple

from counterflow.collectors.text.dates import instant
from counterflow.collectors.text.stamps import moment, to_utc

_CENTURY = {"0": 1900, "1": 2000}
_PIVOT = 70
"""A two-digit year from 70 on is of the 20th century where no column decides."""


class Stamp(NamedTuple):
    """The end of an interval, and its length where another source than its rows gives it.

    `ambiguous` means that the time lies in the hour that clocks repeat, and nothing decides between its two instants.
    """

    instant: datetime
    ambiguous: bool = False
    seconds: float | None = None


def stamp(values: Mapping[str, object], zone: tzinfo, after: datetime | None, order: str | None = None) -> Stamp | None:
    """Return the time that the columns of a row state, None where they state none; `after` is the interval before.

    `order` is that of dates which leave it open.

    Raises
    ------
    ValueError : a column holds no time.
    """
    utc = values.get("UTCTIME") or values.get("SAMPLE_TIME")
    if utc:
        return Stamp(instant(utc, UTC, None, order)[0])
    if local := values.get("DATETIME"):
        return _local(local, zone, after, order)
    if local := values.get("DTETIM"):
        century = str(values.get("DTECEN") or values.get("DTCEN") or "").strip()
        if not str(local).strip().isdecimal():  # the heading `Date-Time` may stand for either
            return _local(local, zone, after, order)
        return Stamp(*to_utc(_dtetim(str(local), century), zone, after))
    return None


def _local(written: object, zone: tzinfo, after: datetime | None, order: str | None) -> Stamp:
    found, ambiguous = instant(written, zone, after, order)
    return Stamp(found.replace(microsecond=0), ambiguous)


def _dtetim(text: str, century: str) -> datetime:
    text = text.strip().zfill(12)  # a spreadsheet drops leading zeros
    if not (len(text) == 12 and text.isascii() and text.isdigit()):
        raise ValueError(f"expected DTETIM as yymmddhhmmss, found {text[:40]!r}")
    parts = [int(text[at : at + 2]) for at in range(0, 12, 2)]
    if century and century not in _CENTURY:
        raise ValueError(f"expected a century of 0 or 1, found {century[:40]!r}")
    parts[0] += _CENTURY[century] if century else 2000 if parts[0] < _PIVOT else 1900
    return moment(*parts)
