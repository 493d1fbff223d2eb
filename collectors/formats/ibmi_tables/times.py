"""When the rows of a table were sampled.

UTCTIME is UTC. DATETIME and DTETIM (`yymmddhhmmss`, century in DTECEN or DTCEN) are local time, in the zone that is
configured. All of them are the end of the interval: the last of a day ends at 00:00 of the next.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta, tzinfo
from typing import NamedTuple

from counterflow.collectors.formats.nmon.stamps import to_utc

_TIMESTAMP = re.compile(r"(\d{4})-(\d\d)-(\d\d)[-T ](\d\d)[.:](\d\d)[.:](\d\d)(?:[.,](\d{1,6})\d*)?Z?")
_CENTURY = {"0": 1900, "1": 2000}
_PIVOT = 70
"""A two-digit year from 70 on is of the 20th century where no column tells."""


class Stamp(NamedTuple):
    """The end of an interval, and its length where that is known from elsewhere than its rows.

    `ambiguous` says that it is one of two instants that nothing decides between: the hour that clocks repeat.
    """

    instant: datetime
    ambiguous: bool = False
    seconds: float | None = None


def stamp(values: Mapping[str, object], zone: tzinfo, after: datetime | None) -> Stamp | None:
    """Return the time that the columns of a row state, None where they state none; `after` is the interval before.

    Raises
    ------
    ValueError : a column holds no time.
    """
    utc = values.get("UTCTIME") or values.get("SAMPLE_TIME")
    if utc:
        return Stamp(timestamp(utc).replace(tzinfo=UTC))
    if local := values.get("DATETIME"):
        return Stamp(*to_utc(timestamp(local).replace(microsecond=0), zone, after))
    if local := values.get("DTETIM"):
        century = str(values.get("DTECEN") or values.get("DTCEN") or "").strip()
        return Stamp(*to_utc(_dtetim(str(local), century), zone, after))
    return None


def iso(instant: datetime) -> str:
    """Return the instant as records carry it: ISO 8601, UTC, with milliseconds where it has any."""
    spec = "milliseconds" if instant.microsecond else "seconds"
    return instant.astimezone(UTC).isoformat(timespec=spec).replace("+00:00", "Z")


def timestamp(value: object) -> datetime:
    """Return the time of a timestamp of Db2, in its own spelling or that of ISO 8601; `Z` is read over.

    Raises
    ------
    ValueError : it is none, or of a year that a record cannot hold.
    """
    if isinstance(value, datetime):
        return value.astimezone(UTC).replace(tzinfo=None) if value.tzinfo else value
    found = _TIMESTAMP.fullmatch(str(value).strip())
    if found is None:
        raise ValueError(f"expected a timestamp as YYYY-MM-DD-hh.mm.ss, found {str(value)[:40]!r}")
    *date, hour, minute, second = (int(part) for part in found.groups()[:6])
    microsecond = int((found[7] or "").ljust(6, "0"))
    return _moment(date[0], date[1], date[2], hour, minute, second) + timedelta(microseconds=microsecond)


def _dtetim(text: str, century: str) -> datetime:
    text = text.strip().zfill(12)  # a spreadsheet takes leading zeros for nothing
    if not (len(text) == 12 and text.isascii() and text.isdigit()):
        raise ValueError(f"expected DTETIM as yymmddhhmmss, found {text[:40]!r}")
    parts = [int(text[at : at + 2]) for at in range(0, 12, 2)]
    if century and century not in _CENTURY:
        raise ValueError(f"expected a century of 0 or 1, found {century[:40]!r}")
    parts[0] += _CENTURY[century] if century else 2000 if parts[0] < _PIVOT else 1900
    return _moment(*parts)


def _moment(year: int, month: int, day: int, hour: int, minute: int, second: int) -> datetime:
    """Return a local time; 24:00:00 is the beginning of the next day."""
    if not 2000 <= year < 2300:  # what a record holds
        raise ValueError(f"expected a year from 2000, found {year}")
    midnight = (hour, minute, second) == (24, 0, 0)
    moment = datetime(year, month, day, 0 if midnight else hour, minute, second)  # noqa: DTZ001 - local by design
    return moment + timedelta(days=1) if midnight else moment
