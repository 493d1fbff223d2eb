"""Dates and times as people export them: ISO, Db2's dots, day, month and year in any order, names of months, AM and PM.

An order of day, month and year is never guessed: it is given, or the only one that the dates of a file allow. That is
why dateutil does not parse them: it guesses. Zones are zoneinfo's.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta, timezone, tzinfo

from counterflow.collectors.records import Reason, Reject
from counterflow.collectors.text.stamps import moment, month, timestamp, to_utc

ORDERS = ("ymd", "mdy", "dmy")

_WRITTEN = re.compile(
    r"(?P<date>\d{1,4}(?P<sep>[/.-])\d{1,2}(?P=sep)\d{1,4}"
    r"|\d{1,2}[ .-]{1,2}(?P<name>[^\W\d_]{3,9}\.?)[ .,-]{1,2}(?:\d{4}|\d\d)"
    r"|(?P<first>[^\W\d_]{3,9}\.?) \d{1,2}, ?\d{4})"
    r"(?:[ T,-]{1,2}(?P<h>\d{1,2})[:.](?P<m>\d\d)(?:[:.](?P<s>\d\d)(?:[.,](?P<fraction>\d{1,6})\d*)?)?"
    r"(?:\s?(?P<half>[AaPp])\.?[Mm]\.?)?)?"
)


_ISO = re.compile(r"\d{4}-\d\d-\d\d(?!.*[AaPp]\.?[Mm])")
_OFFSET = re.compile(r"(\d{4}-\d\d-\d\d[Tt ].*\d) ?(?:[Zz]|([+-])(\d\d)(?::?(\d\d))?)")


class OrderError(ValueError):
    """A date has more than one reading, and nothing decides which is meant."""


def instant(
    value: object, zone: tzinfo, after: datetime | None = None, order: str | None = None
) -> tuple[datetime, bool]:
    """Return the instant of a time to the millisecond, and whether it is one of two between which nothing decides.

    It is local in `zone` unless it states an offset, and `after` is that of `to_utc`; `order` is that of `local_time`,
    which raises the same errors.
    """
    ambiguous = False
    if isinstance(value, datetime) and value.tzinfo:
        found = value.astimezone(UTC)
    elif match := _OFFSET.fullmatch(str(value).strip()):
        written, sign, hours, minutes = match.groups()
        east = timedelta(hours=int(hours or 0), minutes=int(minutes or 0))
        found = timestamp(written.upper()).replace(tzinfo=timezone(-east if sign == "-" else east)).astimezone(UTC)
    else:
        found, ambiguous = to_utc(local_time(value, order), zone, after)
    if not 2000 <= found.year < 2300:  # what a record holds
        raise ValueError(f"expected a year from 2000, found {found.year}")
    return found.replace(microsecond=found.microsecond // 1000 * 1000), ambiguous


def local_time(value: object, order: str | None = None) -> datetime:
    """Return a local time; `order` (`ymd`, `mdy`, `dmy`) applies where the notation leaves it open.

    Raises
    ------
    OrderError : it has several readings and no order is given.
    ValueError : it is no date with a time.
    """
    if isinstance(value, datetime):
        return timestamp(value)
    text = str(value).strip()
    if _ISO.match(text):
        return timestamp(text)
    found = readings(text)
    if not found:
        raise ValueError(f"expected a date and a time, as 2026-03-02 08:00:00, found {text[:40]!r}")
    if order in found:
        return found[order]
    if len(set(found.values())) > 1:
        which = " or ".join(f"{date:%Y-%m-%d} ({name})" for name, date in found.items())
        raise OrderError(f"`{text[:40]}` is {which}: name the order (`date_order`, --date-order)")
    if order is not None:
        raise ValueError(f"`{text[:40]}` is no date in the order {order}: name the order (`date_order`, --date-order)")
    return next(iter(found.values()))


def readings(text: str) -> dict[str, datetime]:
    """Return the local time of a text in each order that it allows, none where it is no date with a time."""
    match = _WRITTEN.fullmatch(text.strip())
    if match is None or match["h"] is None:
        return {}
    hour = int(match["h"])
    if match["half"]:
        if not 1 <= hour <= 12:
            return {}
        hour = hour % 12 + 12 * (match["half"] in "Pp")
    clock = (hour, int(match["m"]), int(match["s"] or 0))
    found: dict[str, datetime] = {}
    for order in ORDERS:
        try:
            year, of_year, day = _date(match, order)
            rest = timedelta(microseconds=int((match["fraction"] or "").ljust(6, "0")))
            found[order] = moment(year, of_year, day, *clock) + rest
        except ValueError:
            continue
    return found


def only_order(texts: Iterable[str]) -> str | None:
    """Return the only order in which all texts are dates; None where there are several, or none is needed.

    Texts are taken as far as they are needed: one is enough where its notation states the order.
    """
    left = set(ORDERS)
    for text in texts:
        if _ISO.match(text.strip()) or text.strip().isdigit():
            return None
        found = readings(text)
        if len(found) == len(ORDERS) and len(set(found.values())) == 1:
            return None  # the month has a name
        left &= found.keys() or left
        if len(left) == 1:
            return left.pop()
    return None


def inferred(order: str) -> Reject:
    detail = f"the order of its dates is {order}, the only one that all of them allow; --date-order overrides it"
    return Reject(Reason.INFERRED, detail, "all")


def _date(match: re.Match[str], order: str) -> tuple[int, int, int]:
    """Return year, month and day in an order.

    Raises
    ------
    ValueError : they are no date in that order.
    """
    named = match["name"] or match["first"]
    numbers = [int(part) for part in re.findall(r"\d+", match["date"])]
    if named:
        if (of_year := month(named)) is None:
            raise ValueError(f"{named!r:.20} is no month")
        day, year = numbers
    else:
        parts = re.split(r"[/.-]", match["date"])
        long = [at for at, part in enumerate(parts) if len(part) > 2]
        if long and (len(long) > 1 or len(parts[long[0]]) != 4 or (order.index("y") != long[0])):
            raise ValueError("the year stands elsewhere")
        if match["sep"] == "." and long == [2] and order != "dmy":
            raise ValueError("dd.mm.yyyy is the format *EUR of Db2, and no other has dots")
        by = dict(zip(order, numbers, strict=True))
        year, of_year, day = by["y"], by["m"], by["d"]
    return (year if year >= 100 else 2000 + year), of_year, day
