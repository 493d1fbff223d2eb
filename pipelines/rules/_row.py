"""Columns of a row as rules need them; each raises `ValueError` that names the column and says what was expected."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

INFINITY = float("inf")

Column = Callable[[Mapping[str, Any], str], Any]
"""What reads a column by its name."""


def moment(row: Mapping[str, Any], name: str) -> datetime:
    """Return an ISO 8601 time; UTC where it has no zone."""
    value = row.get(name)
    try:
        return instant(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise ValueError(f"`{name}`: expected a time such as 2026-11-21T01:00:00Z, found {value!r}") from None


def instant(written: str) -> datetime:
    """Return the time that ISO 8601 text says; UTC where it has no zone."""
    found = datetime.fromisoformat(written)
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def text(row: Mapping[str, Any], name: str) -> str:
    """Return a text, which must be there."""
    value = row.get(name)
    if not isinstance(value, str) or not value:
        raise ValueError(f"`{name}`: expected a text, found {value!r}")
    return value


def number(row: Mapping[str, Any], name: str) -> float | None:
    """Return a number of at least 0, None where it is null or absent."""
    value = row.get(name)
    if value is None or (type(value) in (float, int) and 0 <= value < INFINITY):
        return value
    raise ValueError(f"`{name}`: expected a number of at least 0 or null, found {value!r}")


def difference(row: Mapping[str, Any], name: str) -> float | None:
    """Return a finite number, less than 0 where a counter went back; None where it is null or absent."""
    value = row.get(name)
    if value is None or (type(value) in (float, int) and -INFINITY < value < INFINITY):
        return value
    raise ValueError(f"`{name}`: expected a number or null, found {value!r}")


def positive(row: Mapping[str, Any], name: str) -> float | None:
    """Return a number above 0, None where it is null or absent."""
    value = number(row, name)
    if value == 0:
        raise ValueError(f"`{name}`: expected a number above 0 or null, found 0")
    return value


def length(row: Mapping[str, Any], name: str) -> float:
    """Return a number above 0, which must be there."""
    value = positive(row, name)
    if value is None:
        raise ValueError(f"`{name}`: expected a number above 0, found None")
    return value


def flag(row: Mapping[str, Any], name: str) -> bool:
    """Return true or false; false where it is null or absent."""
    value = row.get(name)
    if value is None:
        return False
    if not isinstance(value, bool):
        raise ValueError(f"`{name}`: expected true, false or null, found {value!r}")
    return value


@dataclass(frozen=True)
class OneOf:
    """A text that is one of several, None where it is null or absent."""

    allowed: tuple[str, ...]

    def __call__(self, row: Mapping[str, Any], name: str) -> str | None:
        """Return it."""
        value: str | None = row.get(name)
        if value is not None and value not in self.allowed:
            raise ValueError(f"`{name}`: expected {', '.join(self.allowed)} or null, found {value!r}")
        return value
