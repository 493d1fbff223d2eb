"""Rows of a CSV file by the names of their columns, each with its place.

For files with a line that names the columns before the rows, and one row per line. Separator, quotes and code page are
those of exports of tables (`cells`, `codepages`). A header may come again, with other columns.
"""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from itertools import islice
from typing import Any, BinaryIO, NamedTuple

import orjson

from counterflow.collectors.records import Context, Item, Position, Reason, Record, Reject, Unfinished, resumable
from counterflow.collectors.text.cells import is_empty, is_null, points_may_group, separator, split
from counterflow.collectors.text.codepages import decode
from counterflow.collectors.text.dates import instant
from counterflow.collectors.text.lines import BOM, STEP, Line, placed_in, read_lines
from counterflow.collectors.text.numbers import grouped_by_points

_INSTANT = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?")

_ABOVE = 20
"""Lines among which a header is looked for."""


class CsvRow(NamedTuple):
    """The values of one line by the names of their columns, in lower case; null is an empty text."""

    line: Line
    values: dict[str, str]


@dataclass
class CsvRows:
    """One reading of a file, resumed at `position`.

    `is_header(names)` returns whether names in lower case are those of the columns. `known` are the columns that are
    read; others are noted (None: all are read). `unnamed(cells)` returns the columns where a file begins with a row,
    else None, and `way_out` is reported. `named(name)` returns the name of a column as rows have it, and `names_system`
    means that rows name their system. A last value that may be cut is kept, but not with `counts`: a cut count looks
    like one that began anew. `memory` is what the format remembers of earlier rows: JSON values.
    """

    stream: BinaryIO
    context: Context
    position: Position | None
    is_header: Callable[[Collection[str]], bool]
    way_out: str
    known: Collection[str] | None = None
    unnamed: Callable[[list[str]], list[str] | None] = lambda cells: None
    named: Callable[[str], str] = str.lower
    names_system: bool = False
    counts: bool = False
    columns: list[str] | None = field(init=False)
    memory: dict[str, Any] = field(init=False)

    def __post_init__(self) -> None:
        at = self.position or Position(0, 0)
        state = orjson.loads(orjson.dumps(at.state))
        self.columns = state.get("columns")
        self.memory = state.get("memory", {})
        self._separator: str = state.get("separator", ",")
        self._read_to = (at.byte_offset, at.line)

    def items(self) -> Iterator[CsvRow | Reject | Position]:
        """Yield every row, and a reject for every line that is none; a position covers what came before it.

        The last line is a row without a line end only where the data is complete.
        """
        if self.context.system is None and not self.names_system:
            detail = "the file does not name its system: set `system` of the source, or --system"
            yield Reject(Reason.BAD_HEADER, detail, "none")
            return
        begun = self._read_to
        for line in read_lines(self.stream, *begun):
            if line.fault is Reason.CUT_LINE and not self.context.complete:
                break
            self._read_to = (line.end, line.number)
            for item in self._items(line):
                if isinstance(item, Reject):
                    placed_in(line, item)
                yield item
            if line.number % STEP == 0:
                yield self._position()
        if self._read_to != begun:
            yield self._position()
        elif begun == (0, 0) and self.context.complete:
            yield Reject(Reason.EMPTY_FILE, "the file is empty", "none")

    @cached_property
    def points_group(self) -> bool | None:
        """Whether points separate thousands in the file; None where it leaves that open.

        Raises
        ------
        Unfinished : the rest of the file may decide it.
        """
        if not points_may_group(self._separator):
            return False
        assert self.columns is not None  # noqa: S101 - rows follow a header
        return points_group(self.stream, self.context, self._separator, len(self.columns))

    def _position(self) -> Position:
        state = {"columns": self.columns, "separator": self._separator, "memory": self.memory}
        return Position(*self._read_to, orjson.loads(orjson.dumps(state)))

    def _items(self, line: Line) -> Iterator[CsvRow | Reject]:
        text = decode(line.data).strip("\x00\x1a\r\n")
        if line.fault is Reason.LINE_TOO_LONG:
            yield Reject(line.fault, "the line is longer than any row", "none")
            return
        if not text.strip() or (self.columns is None and is_empty(text)):
            return
        if text.count('"') % 2:
            yield Reject(Reason.UNKNOWN_LINE, "a value in quotes does not end in its line", "none")
            return
        try:
            cells = split(text, self._separator if self.columns else separator(text))
            if self.columns is None or len(cells) != len(self.columns) or self._name(cells[0]) in self.columns:
                names = [self._name(cell) for cell in split(text, separator(text))]
                if self.is_header(names):
                    self._separator = separator(text)
                    yield from self._begin(names)
                    return
        except csv.Error as error:
            yield Reject(Reason.UNKNOWN_LINE, f"not a row of a CSV file: {error}", "none")
            return
        if self.columns is None and (unnamed := self.unnamed(cells)):
            self._separator = separator(text)
            yield from self._begin(unnamed)
        if self.columns is None:
            passed_over = "passed over as a title: " if _is_alone(cells) else ""
            yield Reject(Reason.NO_HEADER, f"{passed_over}expected {self.way_out}", "none")
        elif len(cells) != len(self.columns) and line.fault is Reason.CUT_LINE:
            yield Reject(Reason.CUT_LINE, "the file ends within a row", "none")
        elif len(cells) != len(self.columns):
            yield Reject(Reason.FIELD_COUNT, f"expected {len(self.columns)} values, found {len(cells)}", "none")
        else:
            if line.fault is Reason.CUT_LINE and self.counts:
                cells[-1] = ""
                detail = f"the last line has no line end: {self.columns[-1]} may be cut and is left out"
                yield Reject(Reason.CUT_LINE, detail, "part")
            elif line.fault is Reason.CUT_LINE:
                detail = "the last line has no line end: read as it is, its last value may be cut"
                yield Reject(Reason.CUT_LINE, detail, "all")
            values = ("" if is_null(cell) else cell.strip() for cell in cells)
            yield CsvRow(line, dict(zip(self.columns, values, strict=True)))

    def _name(self, cell: str) -> str:
        return self.named(cell.strip())

    def _begin(self, names: list[str]) -> Iterator[Reject]:
        self.columns = None
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            detail = f"expected each column once, found {', '.join(twice)} again: its rows are refused"
            yield Reject(Reason.BAD_HEADER, detail, "none")
            return
        self.columns = names
        if self.known is not None and (strange := [name for name in names if name not in self.known]):
            detail = f"columns that are not read: {', '.join(strange)}; known are {', '.join(self.known)}"
            yield Reject(Reason.BAD_HEADER, detail, "part")


def is_csv_of(head: bytes, is_header: Callable[[Collection[str]], bool]) -> bool:
    """Return whether the first line of `head`, or the second below a title, names columns that `is_header` accepts."""
    try:
        return any(
            is_header([cell.strip().lower() for cell in split(line, separator(line))]) for line in first_lines(head)
        )
    except csv.Error:
        return False


def first_lines(head: bytes) -> list[str]:
    """Return the first line of a file that begins with `head`, and the next where the first may be a title above it.

    Lines without a value are passed over. A title is one cell, or fewer than the header below it. Of a file whose lines
    end with CR alone there is none: it would be one line.
    """
    lines = (decode(line[:32_768]).strip() for line in head.removeprefix(BOM).split(b"\n", _ABOVE)[:_ABOVE])
    first, *others = [*islice((line for line in lines if not is_empty(line)), 2), ""][:2]
    return [""] if "\r" in first else [first, *(line for line in others if _is_title(first, line))]


def _is_title(line: str, header: str) -> bool:
    between = separator(header)
    try:
        return line.count(between) < header.count(between) or _is_alone(split(line, between))
    except csv.Error:
        return False


def _is_alone(cells: list[str]) -> bool:
    return sum(bool(cell.strip()) for cell in cells) == 1


def points_group(
    stream: BinaryIO, context: Context, between: str, width: int, places: Sequence[int] | None = None
) -> bool | None:
    """Return `grouped_by_points` of the rows of a file with `width` cells, of those at `places` or of all.

    The whole file is read, and the stream is put back to where it was.

    Raises
    ------
    Unfinished : the file is not complete.
    """
    if not context.complete:
        raise Unfinished
    at = stream.seek(0, os.SEEK_CUR)
    rows = (decode(line.data).replace('"', "").split(between) for line in read_lines(stream, 0, 0))
    chosen = range(width) if places is None else places
    found = grouped_by_points(cells[place] for cells in rows if len(cells) == width for place in chosen)
    stream.seek(at)
    return found


def read_items(rows: CsvRows, records: Callable[[dict[str, str]], Iterator[Record | Reject]]) -> Iterator[Item]:
    """Return what `records` makes of the values of each row, in their order; `records` may raise `Unfinished`."""
    items = _items(rows, records)
    return items if rows.context.complete else resumable(items)


def _items(rows: CsvRows, records: Callable[[dict[str, str]], Iterator[Record | Reject]]) -> Iterator[Item]:
    for item in rows.items():
        if isinstance(item, CsvRow):
            yield from (placed_in(item.line, found) for found in records(item.values))
        else:
            yield item


def utc(written: str) -> datetime:
    """Return the time of an ISO 8601 stamp to the millisecond; without an offset it is UTC.

    Raises
    ------
    ValueError : it is no such stamp.
    """
    text = written.upper()
    if not _INSTANT.fullmatch(text):
        raise ValueError(f"expected a time in UTC as 2025-11-21T01:00:00Z, found {written[:40]!r}")
    return instant(text, UTC)[0]
