"""Cells of one line of a separated table: its separator, quotes, decimal commas."""

from __future__ import annotations

import csv
import re

_DECIMAL_COMMA = re.compile(r"[-+\d.:/ T]*,\d+")
_THREE_DECIMALS = re.compile(r"[-+]?[1-9]\d{0,2},\d{3}")
_GROUPS = re.compile(r"[-+]?[1-9]\d{0,2}(?:\.\d{3})+(?:,\d+)?")
SEPARATORS = ",;\t"
_NULLS = frozenset(("", "-", "null", "(null)", "[null]", "<null>"))
_SEPARATOR_STATED = re.compile(r'"?sep=[,;|\t]?"?', re.IGNORECASE)  # Excel's


def separator(header: str) -> str:
    return max(SEPARATORS, key=header.count)


def points_may_group(between: str) -> bool:
    """Return whether points in cells with this separator may separate thousands.

    Only locales with decimal commas write such points, and these put semicolons between cells.
    """
    return between == ";"


def is_null(cell: str) -> bool:
    """Return whether a cell holds no value: nothing, a lone dash, or NULL, as clients of databases write it."""
    return cell.strip().lower() in _NULLS


def is_empty(line: str) -> bool:
    """Return whether a line above a header holds nothing: no value, or the separator as Excel states it."""
    return not line.strip(' \r\n\x00\x1a"' + SEPARATORS) or _SEPARATOR_STATED.fullmatch(line.strip()) is not None


def split(line: str, between: str) -> list[str]:
    """Return the cells of a line; between semicolons the comma of a number or a time is a decimal one.

    Where a line has one, points separate thousands.

    Raises
    ------
    csv.Error : a cell is longer than any column is.
    """
    cells = _cells(line, between)
    if between == ";" and "," in line and any(_DECIMAL_COMMA.fullmatch(cell.strip()) for cell in cells):
        return [_with_point(cell) for cell in cells]
    return cells


def _with_point(cell: str) -> str:
    text = cell.strip()
    if "." in text and _GROUPS.fullmatch(text):
        text = cell = text.replace(".", "")
    if "," not in text or not _DECIMAL_COMMA.fullmatch(text):
        return cell
    more = "0" if _THREE_DECIMALS.fullmatch(text) else ""  # four decimals: no point that may separate thousands
    return text.replace(",", ".") + more


def _cells(line: str, between: str) -> list[str]:
    if '"' not in line:
        return line.split(between)
    parts = line.split('"')  # every second one stands between quotes
    if len(parts) % 2 and "" not in parts[2:-1:2] and between not in "".join(parts[1::2]):
        return "".join(parts).split(between)  # no separator and no quote within quotes: three times as fast
    return next(csv.reader((line,), delimiter=between))
