"""One line of a print or display read as one disk unit.

The order of the columns is that of JTOpenLite's ListDiskStatusesImpl: unit, type, size (M), % used, I/O requests,
request size (K), read and write requests, read and write (K), % busy, ASP, protection type, protection status,
compression. Numbers have one decimal, with a point or a comma, and no zero in front of it (`.5`). Where columns run
together, the line is cut where columns end in the lines that separate them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from counterflow.collectors.records import Reason, Unusable

MEASURES = ("size", "used", "io", "size_kb", "reads", "writes", "read_kb", "written_kb", "busy")
_COLUMNS = 2 + len(MEASURES)

_TOKEN = re.compile(r"\S+")
_UNIT = re.compile(r"\d{1,5}")
_TYPE = re.compile(r"[0-9A-Z]{4}")
_NUMBER = re.compile(r"\d{1,15}|\d{0,15}[.,]\d")
_WHOLE = re.compile(r"\d{1,15}")
_TENTHS = re.compile(r"\d{0,15}[.,]\d")
_FORMS = (_UNIT, _TYPE, _WHOLE, _TENTHS, _TENTHS, _TENTHS, _TENTHS, _TENTHS, _TENTHS, _TENTHS, _WHOLE)
_BEGINNING = re.compile(r"\s*\d{1,5}(?:\s|[0-9A-Z])")
_STATES = re.compile(r"\s*(?P<unit>\d{1,5})(?:\s+(?P<type>[0-9A-Z]{4}))?\s+(?P<asp>\d{1,3})(?P<words>\s+[^\W\d].*)$")
_ASP = re.compile(r"\s*(?P<asp>\d{1,3})(?=\s|$)")
_APART = re.compile(r"\s{2,}")

_PROTECTIONS = re.compile(r"DPY|MRR|RAID ?\d+|\*?NONE")
_COMPRESSIONS = re.compile(r"[A-Z*]{1,4}")


class DiskUnit(NamedTuple):
    """One disk unit; a value that the line does not hold is None.

    `measures` are the numbers by the names of `MEASURES`, empty where the line is of the second view.
    """

    unit: str
    type: str | None
    measures: dict[str, float]
    asp: str | None = None
    protection: str | None = None
    state: str | None = None
    compression: str | None = None


def begins_with_a_unit(line: str) -> bool:
    """Return whether a line begins as the row of a unit does: with its number."""
    return _BEGINNING.match(line) is not None


def ends(line: str) -> tuple[int, ...] | None:
    """Return where the unit, its type and its numbers end, or None where they do not stand apart."""
    tokens = list(_TOKEN.finditer(line))[:_COLUMNS]
    forms = (_UNIT, _TYPE, *[_NUMBER] * len(MEASURES))
    if len(tokens) < _COLUMNS or not all(f.fullmatch(t[0]) for f, t in zip(forms, tokens, strict=True)):
        return None
    return tuple(token.end() for token in tokens)


def layout(lines: Iterable[str], before: Sequence[int] | None) -> tuple[int, ...] | None:
    """Return where the columns end in the lines that separate them: numbers are right-aligned.

    `before` are the ends in an earlier capture; they serve where no line shows any. Where lines differ, the majority
    counts.
    """
    found: dict[tuple[int, ...], int] = {}
    for line in lines:
        if (at := ends(line)) is not None:
            found[at] = found.get(at, 0) + 1
    if found:
        return max(found, key=lambda at: found[at])
    return tuple(before) if before else None


def read(line: str, columns: Sequence[int] | None) -> DiskUnit:
    """Read a line that begins with a unit number; `columns` are the ends of the columns, where known.

    Raises
    ------
    Unusable : the line does not hold a unit.
    """
    at = ends(line)
    if at is not None:
        cells = [token[0] for token in _TOKEN.finditer(line)][:_COLUMNS]
    elif match := _STATES.match(line):
        return DiskUnit(str(int(match["unit"])), match["type"], {}, match["asp"], *_words(match["words"]))
    elif columns is None:
        detail = f"expected {_COLUMNS} columns, and no line shows where columns that run together end"
        raise Unusable(Reason.FIELD_COUNT, detail)
    else:
        at = tuple(columns)
        cells = [line[a:b].strip() for a, b in zip((0, *at), at, strict=False)]
        if wrong := [cell for form, cell in zip(_FORMS, cells, strict=True) if not form.fullmatch(cell)]:
            detail = f"expected {_COLUMNS} columns that end at {', '.join(map(str, at))}, found `{wrong[0]}`"
            raise Unusable(Reason.FIELD_COUNT, detail)
    measures = {name: float(cell.replace(",", ".")) for name, cell in zip(MEASURES, cells[2:], strict=True)}
    rest = line[at[-1] :]
    asp = _ASP.match(rest)
    words = _words(rest[asp.end() :] if asp else rest)
    return DiskUnit(str(int(cells[0])), cells[1], measures, asp["asp"] if asp else None, *words)


def _words(rest: str) -> tuple[str | None, str | None, str | None]:
    """Return protection, state and compression; a state may hold a blank (HDW FAIL), two blanks separate columns.

    Any of the three may be empty, so of one or two the protection is recognised by its word, the compression by its
    length.
    """
    fields = [field for field in _APART.split(rest.strip()) if field]
    if fields and (match := _PROTECTIONS.match(fields[0])) and fields[0][match.end() :].startswith(" "):
        fields[:1] = [match[0], fields[0][match.end() :].strip()]
    match fields:
        case []:
            return None, None, None
        case [one]:
            return (one, None, None) if _PROTECTIONS.fullmatch(one) else (None, one, None)
        case [one, other] if _PROTECTIONS.fullmatch(one):
            return one, other, None
        case [one, other] if _COMPRESSIONS.fullmatch(other):
            return None, one, other
        case [one, other]:
            return one, other, None
        case [one, other, third]:
            return one, other, third
        case _:
            detail = f"expected at most protection, state and compression, found {len(fields)} texts"
            raise Unusable(Reason.FIELD_COUNT, detail)
