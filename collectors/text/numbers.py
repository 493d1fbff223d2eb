"""Numbers as files and drivers return them: text, Decimal, int, float, None."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

_COMMA = re.compile(r"[-+]?\d*,\d+")


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
