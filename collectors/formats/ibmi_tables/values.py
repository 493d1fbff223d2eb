"""Values as files and drivers hand them over: text, Decimal, int, float, datetime, bytes, None."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from counterflow.collectors.records import Context, Reason

SOURCE = "ibmi_tables"

_COMMA = re.compile(r"[-+]?\d*,\d+")


class Unusable(ValueError):  # noqa: N818 - not an error of the program
    """Nothing of the table can be read with what is known, for `reason`."""

    def __init__(self, detail: str, reason: Reason = Reason.BAD_HEADER) -> None:
        """Say why."""
        super().__init__(detail)
        self.reason = reason


def system(context: Context) -> str:
    """Return the name of the system, which no table of IBM i holds.

    Raises
    ------
    Unusable : nothing names it.
    """
    if context.system is None:
        raise Unusable("the tables do not name their system: set `system` of the source, or --system")
    return context.system


def number_of(value: object) -> float | None:
    """Return a number however it was exported, None for none.

    Raises
    ------
    ValueError : it is no number, or not a finite one.
    """
    if value is None:
        return None
    if isinstance(value, str):
        text = value.strip()
        if not text:
            return None
        number = float(text.replace(",", ".") if _COMMA.fullmatch(text) else text)
    elif isinstance(value, int | float | Decimal) and not isinstance(value, bool):
        number = float(value)
    else:
        raise ValueError(f"expected a number, found {type(value).__name__}")
    if not math.isfinite(number):
        raise ValueError(f"expected a number, found {number}")
    return number


def numbers_of(values: Sequence[Any]) -> tuple[float, ...]:
    """Return the numbers of a row, all at once.

    Raises
    ------
    TypeError, ValueError, OverflowError : one of them is missing, below 0, or not written as a number.
    """
    found = tuple(map(float, values))
    if found and (min(found) < 0 or not math.isfinite(sum(found))):
        raise ValueError(f"expected numbers of 0 and more, found {values}")
    return found


def text_of(value: object) -> str | None:
    """Return a text without the blanks it is padded with, bytes in hexadecimal, None for none."""
    if value is None or isinstance(value, str):
        return value.strip() if value else None
    if isinstance(value, bytes | bytearray | memoryview):
        return value.hex().upper()
    return str(value)
