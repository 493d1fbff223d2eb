"""Converts the recorder's local times to UTC, and measures snapshots (nmon reference: 1.2, 1.3).

No nmon file names its time zone, so the zone comes from the configuration. The repeated hour at the end of summer
time is resolved by order: of two instants with the same local time, the first one after the preceding snapshot.
"""

from __future__ import annotations

import re
import unicodedata
from datetime import UTC, datetime, timedelta, tzinfo
from typing import NamedTuple
from zoneinfo import ZoneInfo

_MONTHS = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")

_MONTHS_ELSEWHERE = {
    "JANV": 1, "JANVIER": 1, "ENE": 1, "GEN": 1,
    "FEV": 2, "FEVR": 2, "FEVRIER": 2,
    "MARS": 3, "MARZ": 3, "MRZ": 3, "MRT": 3, "MAA": 3, "MAAR": 3,
    "AVR": 4, "AVRIL": 4, "ABR": 4,
    "MAI": 5, "MAG": 5, "MEI": 5, "MAJ": 5,
    "JUIN": 6, "GIU": 6, "JUNI": 6,
    "JUIL": 7, "LUG": 7, "JULI": 7,
    "AOU": 8, "AOUT": 8, "AGO": 8,
    "SEPT": 9, "SET": 9,
    "OKT": 10, "OTT": 10, "OUT": 10,
    "DEZ": 12, "DIC": 12, "DES": 12,
}  # fmt: skip
"""Months of recorders that speak German, French, Spanish, Italian, Portuguese, Dutch, Swedish, Danish or Norwegian,
without accents, where they differ from English. JUI is not among them: it is June or July."""

_TIMESTAMP = re.compile(r"(\d{4})-(\d\d)-(\d\d)[-T ](\d\d)[.:](\d\d)(?:[.:](\d\d)(?:[.,](\d{1,6})\d*)?)?")

_HOUR = 3600.0
_FROM_2000_S = 946_684_800


def unix_time(seconds: float) -> datetime | None:
    """Return a moment of Unix time in UTC; None before 2000, or beyond what a calendar holds."""
    try:
        return datetime.fromtimestamp(seconds, UTC) if seconds > _FROM_2000_S else None
    except (OverflowError, ValueError, OSError):
        return None


def month(name: str) -> int | None:
    """Return the number of a month in the languages that recorders speak, None where it is in none, or in two."""
    name = name.rstrip(".").upper()
    if name in _MONTHS:
        return _MONTHS.index(name) + 1
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().upper()
    return _MONTHS.index(plain) + 1 if plain in _MONTHS else _MONTHS_ELSEWHERE.get(plain)


class AssumedZone(ZoneInfo):
    """The zone of local times where nobody names one; `used` is whether a time was read in it."""

    used = False

    @staticmethod
    def unused(zone: tzinfo) -> AssumedZone | None:
        """Return the zone, noted as unused from here on, if it is assumed; None where it was named."""
        if not isinstance(zone, AssumedZone):
            return None
        zone.used = False
        return zone

    def utcoffset(self, dt: datetime | None, /) -> timedelta | None:
        self.used = True
        return super().utcoffset(dt)


AMBIGUOUS = "the clock shows this hour twice and nothing before decides: read as the first"
"""The note where `to_utc` returns that nothing decides."""


def to_utc(local: datetime, zone: tzinfo, after: datetime | None) -> tuple[datetime, bool]:
    """Return the instant of a local time in `zone`, and whether it is one of two between which nothing decides.

    `after` is the preceding instant of the same recording: a repeated local time is its first occurrence after it.
    """
    first = local.replace(tzinfo=zone, fold=0).astimezone(UTC)
    second = local.replace(tzinfo=zone, fold=1).astimezone(UTC)
    if second <= first:  # no fold, or a local time that the clock skipped
        return first, False
    if after is None:
        return first, True
    return (first, False) if first > after else (second, False)


def stated(written: object, zone: tzinfo, after: datetime | None = None) -> datetime | None:
    """Return the instant of a time in ISO 8601, None where it is no time.

    It is local in `zone` where it states no offset; `after` is the preceding instant, as for `to_utc`.
    """
    try:
        found = datetime.fromisoformat(written) if isinstance(written, str) else None
        instant = found and (found.astimezone(UTC) if found.tzinfo else to_utc(found, zone, after)[0])
    except (ValueError, OverflowError):
        return None
    return instant if instant and 2000 <= instant.year < 2300 else None


def iso(instant: datetime) -> str:
    """Return the instant as records carry it: ISO 8601, UTC, with milliseconds where it has any."""
    spec = "milliseconds" if instant.microsecond else "seconds"
    return instant.astimezone(UTC).isoformat(timespec=spec).replace("+00:00", "Z")


def timestamp(value: object) -> datetime:
    """Return the local time of a timestamp of Db2, in its own notation or that of ISO 8601, also without seconds.

    Raises
    ------
    ValueError : it is no timestamp, or of a year that a record cannot hold.
    """
    if isinstance(value, datetime):
        return value.astimezone(UTC).replace(tzinfo=None) if value.tzinfo else value
    found = _TIMESTAMP.fullmatch(str(value).strip())
    if found is None:
        raise ValueError(f"expected a timestamp as YYYY-MM-DD-hh.mm.ss, found {str(value)[:40]!r}")
    *date, hour, minute, second = (int(part or 0) for part in found.groups()[:6])
    microsecond = int((found[7] or "").ljust(6, "0"))
    return moment(date[0], date[1], date[2], hour, minute, second) + timedelta(microseconds=microsecond)


def moment(year: int, month: int, day: int, hour: int, minute: int, second: int) -> datetime:
    """Return a local time; 24:00:00 is the beginning of the next day."""
    if not 2000 <= year < 2300:  # what a record holds
        raise ValueError(f"expected a year from 2000, found {year}")
    midnight = (hour, minute, second) == (24, 0, 0)
    moment = datetime(year, month, day, 0 if midnight else hour, minute, second)  # noqa: DTZ001 - local by design
    return moment + timedelta(days=1) if midnight else moment


class SnapshotInterval(NamedTuple):
    """Length of a snapshot in seconds (None: not known), and a note to report."""

    seconds: float | None
    note: str | None = None


def interval(before: datetime, now: datetime, steps: int, nominal: float | None) -> SnapshotInterval:
    """Return how long the snapshot at `now` is, `steps` snapshots after the one at `before`.

    The difference of the stamps counts: recorders drift, and a suspended machine really has a long interval. Where the
    clock itself moved, the nominal interval of the recording counts instead: the clock went back, or it moved by the
    hour of a daylight saving change that the configured zone does not have. Such a move may differ from an hour by half
    an interval, and by ten minutes at most.
    """
    elapsed = (now - before).total_seconds()
    if elapsed == 0:
        return SnapshotInterval(nominal, "the stamp of the preceding snapshot is the same")
    if elapsed < 0:
        return SnapshotInterval(nominal, f"the clock went back {-elapsed:g} s since the preceding snapshot")
    if nominal is not None:
        excess = elapsed - steps * nominal
        tolerance = min(max(nominal / 2, 2.0), _HOUR / 6)
        if excess and abs(abs(excess) - _HOUR) <= tolerance:
            return SnapshotInterval(nominal, f"the clock moved by an hour: {elapsed:g} s since the preceding snapshot")
    if steps > 1:
        return SnapshotInterval(round(elapsed / steps, 3))
    return SnapshotInterval(elapsed)


def between(before: datetime, after: datetime, part: int, steps: int, nominal: float | None) -> datetime | None:
    """Return the instant `part` of `steps` equal intervals after `before`, or None where they are not equal.

    They are equal where the whole is `steps` nominal intervals, give or take a tenth of one (a second at least):
    then a lost stamp is certain to within that.
    """
    elapsed = (after - before).total_seconds()
    if nominal is None or abs(elapsed - steps * nominal) > max(nominal / 10, 1.0):
        return None
    return before + timedelta(seconds=round(elapsed * part / steps))
