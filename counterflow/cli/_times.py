"""Times on the command line, in one grammar for every option."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import click

GRAMMAR = "`2026-03-02`, `2026-03-02 08:00`, `now`, `today`, `yesterday`, `-2h`; a zone may follow, else UTC"
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_AGO = re.compile(rf"-(\d{{1,6}})([{''.join(_UNITS)}])")
_ZONED = re.compile(r"(?P<time>.+?)\s+(?P<zone>[A-Za-z]\w*(?:/[\w+-]+)*)")


class Time(click.ParamType[datetime]):
    """A point in time, with its zone."""

    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> datetime:
        """Return the time, or fail with the accepted forms."""
        if isinstance(value, datetime):
            return value
        try:
            return moment(str(value), datetime.now(UTC))
        except ValueError as error:
            self.fail(f"`{value}` is no time{f': {error}' * bool(str(error))}; try {GRAMMAR}", param, ctx)


class LocalTime(click.ParamType[datetime]):
    """A point in time as a listing would state it: without a zone, it is in the zone of the file."""

    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> datetime:
        """Return the time, without a zone where none is given, or fail with the accepted forms."""
        if isinstance(value, datetime):
            return value
        zoned = _ZONED.fullmatch(str(value).strip())
        try:
            stated = datetime.fromisoformat(zoned["time"] if zoned else str(value).strip())
            return stated.replace(tzinfo=ZoneInfo(zoned["zone"])) if zoned else stated
        except (ValueError, ZoneInfoNotFoundError, OSError):
            self.fail(
                f"`{value}` is no time; try `2026-03-02 08:00`, followed by a zone where it is not that of --zone",
                param,
                ctx,
            )


def moment(text: str, now: datetime) -> datetime:
    """Return the time that `text` names: ISO 8601, or relative to `now`; UTC without a zone.

    `today` and `yesterday` are the midnights at which these days begin in the zone; `-2h` is two hours ago.

    Raises
    ------
    ValueError : it is none of these.
    """
    text = text.strip()
    found = _ZONED.fullmatch(text)
    zone: tzinfo = UTC
    if found:
        text = found["time"]
        try:
            zone = ZoneInfo(found["zone"])
        except (ZoneInfoNotFoundError, ValueError, OSError):
            raise ValueError(f"{found['zone']} is not an IANA time zone") from None
    if text == "now":
        return now
    if ago := _AGO.fullmatch(text):
        return now - timedelta(**{_UNITS[ago[2]]: int(ago[1])})
    if text in ("today", "yesterday"):
        midnight = now.astimezone(zone).replace(hour=0, minute=0, second=0, microsecond=0)
        return midnight - timedelta(days=text == "yesterday")
    try:
        stated = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError from None
    if stated.tzinfo is None:
        return stated.replace(tzinfo=zone)
    if found:
        raise ValueError("it has two zones")
    return stated


def stated(time: datetime) -> str:
    """Return a time as the parameter of a statement, in UTC."""
    return f"{time.astimezone(UTC):%F %T}"


TIME = Time()
