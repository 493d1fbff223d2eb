"""Numbers as files and drivers return them: text, Decimal, int, float, None."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from typing import Any

from counterflow.collectors.records import Reason, Unusable
from counterflow.collectors.text.cells import is_null

_COMMA = re.compile(r"[-+]?\d*,\d+")
_THOUSANDS = re.compile(r"[-+]?\d{1,3}(?:(?:,\d{3}){2,}(?:\.\d+)?|,\d{3}\.\d+)")
_POINTS = re.compile(r"[-+]?\d{1,3}(?:\.\d{3}){2,}")
_EITHER = re.compile(r"[-+]?[1-9]\d{0,2},\d{3}")
EITHER_POINT = re.compile(r"[-+]?[1-9]\d{0,2}\.\d{3}")
"""A number whose point separates thousands or decimals."""
_POINTS_AND_COMMA = re.compile(r"[-+]?\d{1,3}(?:\.\d{3})+,\d+")
_POINT = re.compile(r"[-+]?\d*\.\d+")


def number_of(value: object) -> float | None:
    """Return a number however it was exported, None where there is none.

    It may have a decimal comma, or commas or points between thousands.

    Raises
    ------
    Unusable : it is no number, or not a finite one, or `1,234`, which is 1.234 or 1234.
    """
    if value is None:
        return None
    if isinstance(value, str):
        text = value.strip()
        if is_null(text):
            return None
        if "," in text:
            text = _without_commas(text)
        elif text.count(".") > 1 and _POINTS.fullmatch(text):
            text = text.replace(".", "")
        try:
            number = float(text)
        except ValueError:
            number = math.nan
    elif isinstance(value, int | float | Decimal) and not isinstance(value, bool):
        number = float(value)
    else:
        raise Unusable(Reason.NOT_A_NUMBER, f"expected a number, found {type(value).__name__}")
    if not math.isfinite(number):
        raise Unusable(Reason.NOT_A_NUMBER, f"expected a number, found {str(value)[:40]!r}")
    return number


def number_within(value: object, points_group: Callable[[], bool | None], *, whole: bool) -> float | None:
    """Return a number of a file, None where there is none; `whole` means that its column has no decimals.

    `points_group` returns whether points separate thousands in the file, as `grouped_by_points` does; it is called
    where the text alone does not decide.

    Raises
    ------
    Unusable : as `number_of`; also for `1.234` of a column without decimals, where the file does not decide.
    """
    if isinstance(value, str) and "." in value and EITHER_POINT.fullmatch(value.strip()):
        grouped = points_group()
        if grouped is None and whole:
            raise _ambiguous(value.strip(), ".")
        value = value.replace(".", "") if grouped else value
    return number_of(value)


def grouped_by_points(cells: Iterable[str]) -> bool | None:
    """Return whether points separate thousands in the numbers of a file; None where none, or not all, decide it.

    `1.234.567` and `51,5` decide that they do, `51.5` and `1,234.5` that they do not.
    """
    found: set[bool] = set()
    for cell in cells:
        text = cell.strip()
        if "," in text:
            if _POINTS_AND_COMMA.fullmatch(text) or (_COMMA.fullmatch(text) and not _EITHER.fullmatch(text)):
                found.add(True)
            elif "." in text and _THOUSANDS.fullmatch(text):
                found.add(False)
        elif "." in text:
            if _POINTS.fullmatch(text):
                found.add(True)
            elif _POINT.fullmatch(text) and not EITHER_POINT.fullmatch(text):
                found.add(False)
    return found.pop() if len(found) == 1 else None


def _ambiguous(text: str, mark: str) -> Unusable:
    """Return that the comma or point of a number separates thousands or decimals: the text alone does not decide."""
    plain, decimal = text.replace(mark, ""), text.replace(mark, ".")
    detail = f"{text!r} is {plain} or {decimal}: export it without thousands separators"
    return Unusable(Reason.NOT_A_NUMBER, detail)


def _without_commas(text: str) -> str:
    if _EITHER.fullmatch(text):
        raise _ambiguous(text, ",")
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
