"""The fields of a line, bytes until their meaning is known: fast where a row is clean, careful where it is not."""

from __future__ import annotations

import re
from typing import NamedTuple

import orjson

from counterflow.collectors.records import Reason
from counterflow.collectors.text.codepages import text

_PLAIN = b"0123456789., "
_DIGITS = bytes.maketrans(b"123456789", b"0" * 9)
_WIDE = b"0" * 19
"""Digits, written as 0, of a number that may be too large; looking for them costs less than comparing numbers."""
_NUMBER = re.compile(rb"-?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_TOO_LARGE = 2.0**63


class Problem(NamedTuple):
    """A field that is not kept, and why."""

    reason: Reason
    detail: str


def plain(fields: bytes) -> list[float] | None:
    """Return the numbers of a row of plain unsigned numbers, or None where it is not one or one may be too large."""
    if fields.translate(None, _PLAIN) or _WIDE in fields.translate(_DIGITS):
        return None
    try:
        numbers: list[float] = orjson.loads(b"[" + fields + b"]")
    except orjson.JSONDecodeError:
        return None
    return numbers


def careful(fields: bytes, *, unsupported: bool, signed: bool) -> tuple[list[float | None], list[tuple[int, Problem]]]:
    """Return the number of every field (None: missing) and the fields that had to be refused.

    `unsupported` means that this recorder writes -1 and -0.0 for what it cannot measure; `signed` that the section may
    hold negative figures. An empty field is missing and no problem.
    """
    numbers: list[float | None] = []
    problems: list[tuple[int, Problem]] = []
    for at, raw in enumerate(fields.split(b",")):
        value, problem = one(raw, unsupported=unsupported, signed=signed)
        numbers.append(value)
        if problem is not None:
            problems.append((at, problem))
    return numbers, problems


def one(raw: bytes, *, unsupported: bool, signed: bool) -> tuple[float | None, Problem | None]:
    """Return the number of one field (None: missing), and why it was refused if it was."""
    written = raw.strip()
    if not written:
        return None, None
    shown = written[:40].decode("latin-1")
    if _NUMBER.fullmatch(written) is None:
        return None, Problem(Reason.NOT_A_NUMBER, f"`{shown}` is not a number")
    value = float(written)
    if written[:1] == b"-":
        if unsupported and value in (0.0, -1.0):
            return None, None
        if value == 0.0:
            return 0.0, None
        if not signed:
            return None, Problem(Reason.NEGATIVE_DELTA, f"{shown} is impossible: the counter went back")
    if abs(value) >= _TOO_LARGE:
        return None, Problem(Reason.OUT_OF_RANGE, f"{shown} is beyond any counter")
    return value, None


def is_numeric(fields: bytes) -> bool:
    return all(not f.strip() or _NUMBER.fullmatch(f.strip()) for f in fields.split(b","))


def pair(data: bytes) -> tuple[str, str]:
    first, _, rest = text(data).partition(",")
    return first.strip(), rest.rstrip()


def names(fields: bytes) -> list[str]:
    """Return the column names of a header; it may end with commas."""
    found = [name.strip() for name in text(fields).split(",")]
    while found and not found[-1]:
        found.pop()
    return found
