"""Numbers as files and drivers return them: text, Decimal, int, float, None."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

_COMMA = re.compile(r"[-+]?\d*,\d+")
_THOUSANDS = re.compile(r"[-+]?\d{1,3}(?:(?:,\d{3}){2,}(?:\.\d+)?|,\d{3}\.\d+)")
_POINTS = re.compile(r"[-+]?\d{1,3}(?:\.\d{3}){2,}")
_EITHER = re.compile(r"[-+]?[1-9]\d{0,2},\d{3}")


class Ambiguous(ValueError):  # noqa: N818 - of the data, not of the program
    """A number whose comma separates thousands or decimals: the text alone does not decide."""


def number_of(value: object) -> float | None:
    """Return a number however it was exported, None where there is none.

    It may have a decimal comma, or commas or points between thousands.

    Raises
    ------
    Ambiguous : `1,234` is 1.234 or 1234.
    ValueError : it is no number, or not a finite one.
    """
    if value is None:
        return None
    if isinstance(value, str):
        text = value.strip()
        if not text:
            return None
        if "," in text:
            text = _without_commas(text)
        elif text.count(".") > 1 and _POINTS.fullmatch(text):
            text = text.replace(".", "")
        number = float(text)
    elif isinstance(value, int | float | Decimal) and not isinstance(value, bool):
        number = float(value)
    else:
        raise ValueError(f"expected a number, found {type(value).__name__}")
    if not math.isfinite(number):
        raise ValueError(f"expected a number, found {number}")
    return number


def _without_commas(text: str) -> str:
    if _EITHER.fullmatch(text):
        plain = text.replace(",", "")
        raise Ambiguous(f"{text!r} is {plain} or {text.replace(',', '.')}: export it without thousands separators")
    if _THOUSANDS.fullmatch(text):
        return text.replace(",", "")
    return text.replace(",", ".") if _COMMA.fullmatch(text) else text


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
