"""Values as a reader sees them: numbers with their unit, times in UTC, names without hidden characters."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from markupsafe import Markup

from counterflow.base.inert import inert
from counterflow.dashboards.looks import looks

MISSING = "\u2013"
"""Stands for an unknown figure, which is never 0."""

_WHOLE = ("count", "total")
_SCALED = {"bytes": ("B", "kB", "MB", "GB", "TB", "PB"), "bytes_s": ("B/s", "kB/s", "MB/s", "GB/s", "TB/s")}


def plain(text: object) -> str:
    """Return a name with characters that are invisible, or reverse the line, written out: `\\x07`."""
    return inert(str(text))


def visible(value: Any) -> Any:
    """Return a value for a template; in text, invisible characters are written out, except ends of lines."""
    if not isinstance(value, str) or isinstance(value, Markup):
        return value
    return "\n".join(map(plain, value.split("\n")))


def number(value: Any) -> float | None:
    """Return a value that can be drawn; None for `inf`, `nan` and anything that is no number."""
    return value if isinstance(value, int | float) else None


def rounded(value: float, decimals: int | None = None) -> str:
    """Return a number with `decimals`, or with four significant digits; from 1,000 on without decimals."""
    if decimals is not None and abs(value) < 1000:
        return f"{value:,.{decimals}f}"
    if value == int(value) or abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.4g}" if abs(value) >= 1e-3 else f"{value:.2e}"


def figure(value: Any, unit: str, decimals: int | None = None) -> str:
    """Return a value with its unit; text and times as they are."""
    if value is None:
        return MISSING
    if (numeric := number(value)) is None:
        return plain(value)
    if unit == "duration":
        return length(numeric) if numeric >= 60 else f"{rounded(numeric, decimals)} s"
    if unit in _WHOLE and numeric == int(numeric):
        decimals = None
    if unit in _SCALED:
        names = list(_SCALED[unit])
        while abs(numeric) >= 1000 and len(names) > 1:
            numeric /= 1000
            names.pop(0)
        return f"{rounded(numeric, decimals)} {names[0]}"
    return f"{rounded(numeric, decimals)} {looks().units[unit].text}".rstrip()


def sparkline(values: Sequence[Any], top: float) -> str:
    """Return numbers as bars of text, of which the highest stands for `top` or more; a missing value is a blank."""
    bars = "▁▂▃▄▅▆▇█"
    known = [number(value) for value in values]
    return "".join(" " if one is None else bars[min(7, max(0, int(8 * one / (top or 1))))] for one in known)


def headed(name: str, unit: str) -> str:
    """Return the heading of a column with the unit of its values, unless each value carries its own."""
    text = "" if unit in (*_SCALED, *_WHOLE, "duration") else looks().units[unit].text
    return name if mentions(name, text) else f"{name}, {text}"


_SPELLED = {"s": "second", "h": "hour", "d": "day"}


def mentions(name: str, unit: str) -> bool:
    """Return whether a name has a unit as a word of its own: "CPU ms", not the s of "Response"; True without a unit."""
    if not unit:
        return True
    spelled = _SPELLED.get(unit, unit)
    return re.search(rf"(?<!\w)({re.escape(unit)}|{re.escape(spelled)}s?)(?!\w)", name, re.IGNORECASE) is not None


def bare(value: Any, unit: str, decimals: int | None = None) -> str:
    """Return a value without its unit, which the heading has."""
    numeric = number(value)
    if numeric is None or unit in (*_SCALED, "duration"):
        return figure(value, unit, decimals)
    return rounded(numeric, None if unit in _WHOLE and numeric == int(numeric) else decimals)


def length(seconds: float) -> str:
    """Return a length of time in the largest unit that fits, to one decimal."""
    for name, size in (("days", 86_400), ("h", 3600), ("min", 60)):
        if seconds >= size:
            return f"{rounded(round(seconds / size, 1))} {name}"
    return f"{rounded(round(seconds, 1))} s"


def ms(text: str) -> int:
    """Return a time of the server, in UTC, as milliseconds since 1970."""
    return round(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp() * 1000)


def moment(at_ms: float) -> str:
    """Return milliseconds since 1970 as a time in UTC, without seconds where they are 0."""
    at = datetime.fromtimestamp(at_ms / 1000, UTC)
    return f"{at:%Y-%m-%d %H:%M:%S}".removesuffix(":00")
