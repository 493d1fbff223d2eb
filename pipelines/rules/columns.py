"""Column readers for rules; each raises a `ValueError` that names the column and what was expected.

An interval states its fields with the types below, each with the reader of its column.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any

INFINITY = float("inf")


def instant(written: str) -> datetime:
    """Parse an ISO 8601 time; UTC where it has no zone."""
    found = datetime.fromisoformat(written)
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def text(row: Mapping[str, Any], name: str) -> str:
    value = row.get(name)
    if not isinstance(value, str) or not value:
        raise ValueError(f"`{name}`: expected a text, found {value!r}")
    return value


@dataclass(frozen=True)
class Moment:
    """An ISO 8601 time; UTC where it has no zone; None where it is null or absent, unless `needed`."""

    needed: bool = True

    def __call__(self, row: Mapping[str, Any], name: str) -> datetime | None:
        value = row.get(name)
        if value is None and not self.needed:
            return None
        try:
            return instant(value)  # type: ignore[arg-type]
        except (TypeError, ValueError):
            raise ValueError(f"`{name}`: expected a time such as 2026-11-21T01:00:00Z, found {value!r}") from None


@dataclass(frozen=True)
class Number:
    """A finite number of at least `least`, or above `above`; None where it is null or absent, unless `needed`."""

    least: float = -INFINITY
    above: float = -INFINITY
    needed: bool = False

    def __call__(self, row: Mapping[str, Any], name: str) -> float | None:
        value: Any = row.get(name)
        if value is None and not self.needed:
            return None
        if type(value) in (float, int) and value >= self.least and self.above < value < INFINITY:
            return value  # type: ignore[no-any-return]
        bound = "" if self.least == -INFINITY else f" of at least {self.least:g}"
        bound = bound if self.above == -INFINITY else f" above {self.above:g}"
        raise ValueError(f"`{name}`: expected a number{bound}{'' if self.needed else ' or null'}, found {value!r}")


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
    """A text of a fixed set; None where it is null or absent."""

    allowed: tuple[str, ...]

    def __call__(self, row: Mapping[str, Any], name: str) -> str | None:
        value: str | None = row.get(name)
        if value is not None and value not in self.allowed:
            raise ValueError(f"`{name}`: expected {', '.join(self.allowed)} or null, found {value!r}")
        return value


Column = Callable[[Mapping[str, Any], str], Any]
"""The reader of a column; called with a row and the column's name."""

Time = Annotated[datetime, Moment()]
TimeOrNone = Annotated[datetime | None, Moment(needed=False)]
Difference = Annotated[float | None, Number()]
"""A number that is negative where a counter restarted."""
Figure = Annotated[float | None, Number(least=0)]
Positive = Annotated[float | None, Number(above=0)]
Mark = Annotated[bool, flag]
