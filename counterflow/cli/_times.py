"""Times on the command line, in one grammar for every option."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import click

GRAMMAR = "`2026-03-02`, `2026-03-02 08:00`, `now`, `today`, `yesterday`, `-2h`; a zone may follow, else UTC"
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_AGO = re.compile(rf"-(\d{{1,6}})([{''.join(_UNITS)}])")
_ZONED = re.compile(r"(?P<time>.+?)\s+(?P<zone>[A-Za-z]\w*(?:/[\w+-]+)*)")


class Time(click.ParamType[datetime]):
    """A point in time.

    Parameters
    ----------
    read : returns the time that a text states; raises `ValueError` where it states none.
    forms : what it accepts.
    """

    name = "time"

    def __init__(self, read: Callable[[str], datetime], forms: str) -> None:
        self._read, self._forms = read, forms

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> datetime:
        """Return the time, or fail with the accepted forms."""
        if isinstance(value, datetime):
            return value
        try:
            return self._read(str(value))
        except ValueError as error:
            self.fail(f"`{value}` is no time{f': {error}' * bool(str(error))}; try {self._forms}", param, ctx)


def moment(text: str, now: datetime) -> datetime:
    """Return the time that `text` names, in UTC: ISO 8601, or relative to `now`; UTC without a zone.

    `today` and `yesterday` are the midnights at which these days begin in the zone; `-2h` is two hours ago.

    Raises
    ------
    ValueError : it is none of these.
    """
    try:
        return _moment(*_zoned(text), now).astimezone(UTC)
    except OverflowError:
        raise ValueError("it is before year 1, or after 9999") from None


def _moment(text: str, zone: ZoneInfo | None, now: datetime) -> datetime:
    if text == "now":
        return now
    if ago := _AGO.fullmatch(text):
        return now - timedelta(**{_UNITS[ago[2]]: int(ago[1])})
    if text in ("today", "yesterday"):
        midnight = now.astimezone(zone or UTC).replace(hour=0, minute=0, second=0, microsecond=0)
        return midnight - timedelta(days=text == "yesterday")
    stated = _iso(text, zone)
    return stated if stated.tzinfo else stated.replace(tzinfo=UTC)


def _zoned(text: str) -> tuple[str, ZoneInfo | None]:
    """Return a time and the zone that follows it; raises ValueError where there is no such zone."""
    text = text.strip()
    found = _ZONED.fullmatch(text)
    if found is None:
        return text, None
    try:
        return found["time"], ZoneInfo(found["zone"])
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ValueError(f"{found['zone']} is not an IANA time zone") from None


def _iso(text: str, zone: ZoneInfo | None) -> datetime:
    """Return a time in ISO 8601, in `zone` where there is one; raises ValueError where it is none, or has two zones."""
    try:
        stated = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError from None
    if zone is None:
        return stated
    if stated.tzinfo is not None:
        raise ValueError("it has two zones")
    return stated.replace(tzinfo=zone)


TIME = Time(lambda text: moment(text, datetime.now(UTC)), GRAMMAR)
"""A point in time, in UTC."""
LOCAL_TIME = Time(
    lambda text: _iso(*_zoned(text)),
    "`2026-03-02 08:00`, followed by a zone where it is not that of --zone",
)
"""A point in time as a listing would state it: without a zone, it is in the zone of the file."""
