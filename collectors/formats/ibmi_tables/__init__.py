"""Tables of IBM i: Collection Services files and Db2 for i services, as CSV files and as rows of SQL.

`read_rows` turns rows into tables; this module reads the rows from exports. See README.md.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache
from itertools import chain
from typing import Any, BinaryIO, cast

import orjson

from counterflow.collectors.formats.ibmi_tables.beside import Beside, Join, Unclosed, interval_of
from counterflow.collectors.formats.ibmi_tables.collection import COLLECTION, read_collection
from counterflow.collectors.formats.ibmi_tables.description import Description, description
from counterflow.collectors.formats.ibmi_tables.headers import no_header, recognise, table_of, without_header
from counterflow.collectors.formats.ibmi_tables.layout import canonical
from counterflow.collectors.formats.ibmi_tables.rows import Items, RowReader, of_line, read_rows
from counterflow.collectors.records import Context, Item, Neighbour, Position, Reason, Reject, Unusable, resumable
from counterflow.collectors.text.cells import is_empty, points_may_group, separator, split
from counterflow.collectors.text.codepages import decode, has_ebcdic
from counterflow.collectors.text.csv_rows import first_lines, points_group
from counterflow.collectors.text.dates import inferred, only_order
from counterflow.collectors.text.lines import Line, read_head, read_lines

__all__ = ["read_rows"]

_NEEDED_BY = {
    "QAPMDISK": ("QAPMCONF",),
    "QAPMDISKRB": ("QAPMCONF",),
    "QAPMISUM": ("QAPMJOBWTD",),
    "QAPMJOBWT": ("QAPMJOBWTD",),
    "QAPMJOBWTG": ("QAPMJOBWTD",),
    "QAPMJOBWTD": ("QAPMCONF",),
}
"""The tables of the same collection that a table needs, read first from the files beside it."""

_WITH_TIME = ("QAPMSYSTEM", "QAPMISUM")
"""Tables with one row per interval, which give the end of an interval by its number."""

Cells = list[str] | tuple[Any, ...]
"""Values of a line, as text or typed."""

_LEARNT = ("boundaries", "waits", "began")


def recognises(head: bytes) -> bool:
    """Return whether `head` is the beginning of an export of a table that is described."""
    return recognise(head)


def parse(stream: BinaryIO, context: Context, position: Position | None = None) -> Iterator[Item]:
    """Yield the content of every row; a row that cannot be read becomes a reject, and the next is read.

    A position follows every interval. Memory holds one interval, or one of each file where QAPMJOBOS is read
    together with QAPMJOBMI.
    """
    reading = _TableReading(stream, context, position or Position(0, 0))
    try:
        yield from reading.items() if context.complete else resumable(reading.items())
    finally:
        reading.close()


class _TableReading:
    def __init__(self, stream: BinaryIO, context: Context, position: Position) -> None:
        self._stream = stream
        self._context = context
        self.state: dict[str, Any] = orjson.loads(orjson.dumps(position.state))
        self._read_to = (position.byte_offset, position.line)
        self._lines = read_lines(stream, *self._read_to)
        self._between: str = self.state.get("separator", ",")
        self.reader: RowReader | None = None
        self._beside: Beside | None = None
        self._beside_stream: BinaryIO | None = None
        self._join: Join | None = None

    def close(self) -> None:
        if self._beside_stream is not None:
            self._beside_stream.close()

    def items(self) -> Iterator[Item]:
        if "first" in self.state:
            yield from self._after_first()
            return
        if "table" in self.state:
            try:
                self._read_with(RowReader(self.state["table"], self.state["columns"], self._context, self.state))
            except Unusable as error:
                yield Reject(error.reason, str(error), "none", section=self.state["table"], system=self._context.system)
                return
            if "beside" in self.state:  # a file that came later is read by itself
                self._open_beside()
        title: tuple[Line, list[str]] | None = None
        for line, cells in self._rows():
            if isinstance(cells, Reject):
                yield from self._flush()
                yield self._placed(cells, line)
                continue
            try:
                if isinstance(cells, list) and (self.reader is None or cells[0].strip()[:1].isalpha()):
                    headed = self._header(cells, line)
                    if self.reader is None and title is None and headed is None:
                        title = line, cells  # the next line decides
                        continue
                    if title is not None and self.reader is None:
                        if headed is None or headed[2]:
                            line, cells = title
                            raise no_header(cells, self._context.file)
                        detail = f"passed over: the names of the columns are in line {line.number}"
                        yield self._placed(Reject(Reason.NO_HEADER, detail, "none"), title[0])
                    if headed is not None:
                        if self._goes_on(*headed):
                            continue
                        yield from self._end()
                        yield from self._begin(*headed)
                        if self.reader is None:
                            return
                        continue
            except Unusable as error:
                yield self._placed(Reject(error.reason, str(error), "none"), line)
                return
            assert self.reader is not None  # noqa: S101 - rows follow a header
            if self.reader.begins(cells):
                yield from self._end()
                yield self._position(line.offset, line.number - 1)
            yield from self._row(self.reader, cells, line)
        if not self._context.complete:
            return
        if title is not None and self.reader is None:
            refused = no_header(title[1], self._context.file)
            yield self._placed(Reject(refused.reason, str(refused), "none"), title[0])
            return
        end, number = self._read_to
        if end == 0:
            yield Reject(Reason.EMPTY_FILE, "the file is empty", "none", system=self._context.system)
            return
        yield from self._end()
        if self._beside is not None:
            yield from self._beside.rest()
        yield self._position(end, number)

    def _rows(self) -> Iterator[tuple[Line, Cells | Reject]]:
        for line in self._lines:
            if line.fault is Reason.CUT_LINE and not self._context.complete:
                return
            self._read_to = (line.end, line.number)
            if (typed := self._typed(line)) is not None:
                yield line, typed
                continue
            text = decode(line.data).strip("\x00\x1a\r\n")
            if line.fault is Reason.LINE_TOO_LONG:
                yield line, Reject(line.fault, "the line is longer than any row", "none")
            elif text.strip() and not (self.reader is None and is_empty(text)):
                try:
                    yield line, split(text, self._between if self.reader else separator(text))
                except csv.Error as error:
                    yield line, Reject(Reason.UNKNOWN_LINE, f"not a row of a CSV file: {error}", "none")

    def _typed(self, line: Line) -> tuple[Any, ...] | None:
        """Return the typed cells of a line, None where they need a closer look or the line may be a header."""
        if self.reader is None or self._between != "," or line.fault is not None:
            return None
        cells = self.reader.layout.typed(line.data)
        return None if cells is None or (isinstance(cells[0], str) and cells[0].strip()[:1].isalpha()) else cells

    def _row(self, reader: RowReader, cells: Cells, line: Line) -> Iterable[Item]:
        """Return the items of a row, as a list: this runs a million times a day."""
        cut = line.fault is Reason.CUT_LINE
        if cut and len(cells) != len(reader.layout.columns):
            return [*self._flush(), self._placed(Reject(Reason.CUT_LINE, "the file ends within a row", "none"), line)]
        if not line.data.isascii() and len(cells) == len(reader.layout.columns) and has_ebcdic(cells):
            detail = "EBCDIC was left in a column: export it with a code page, STMFCCSID(*PCASCII) or 1208"
            return [*self._flush(), self._placed(Reject(Reason.WRONG_ENCODING, detail, "none"), line)]
        before = [*self._flush()] if cut else []
        items: Items = reader.row(cells, line, typed=isinstance(cells, tuple))
        if cut:
            detail = "the last line has no line end: read as it is, its last value may be cut"
            items.insert(0, self._placed(Reject(Reason.CUT_LINE, detail, "all"), line))
        joined = items if self._beside is None else self._joined(items)
        return chain(before, joined) if cut else joined

    # headers

    def _header(self, cells: list[str], line: Line) -> tuple[str, list[str], list[list[str]]] | None:
        """Return table, columns and the rows already read, where the line begins a table."""
        text = decode(line.data)
        between = separator(text)
        names = cells if self.reader is None or between == self._between else split(text, between)
        table = table_of(names, self._context.file)
        if table is not None:
            self._between = between
            return table.table, [name.strip() for name in names], []
        if self.reader is not None:
            return None
        table = without_header(names, self._context.file)
        if table is None:
            return None
        self._between = between
        return table.table, [*table.time, *table.fields], [names]

    def _goes_on(self, table: str, columns: list[str], rows: list[list[str]]) -> bool:
        """Return whether the heading is that of the rows before it once more, which ends no interval."""
        if self.reader is None or rows or (table, columns) != (self.state["table"], self.state["columns"]):
            return False
        self.state["separator"] = self._between
        return True

    def _begin(self, table: str, columns: list[str], rows: list[list[str]]) -> Iterator[Item]:
        """Begin a table; where no reader is set afterwards, the file has been read.

        Raises
        ------
        Unusable : its columns cannot be read.
        """
        self.reader = None
        if table in COLLECTION:
            if not self._context.complete:
                return  # small, and read as a whole
            self._learn(table)
            rest = (cells for _, cells in self._rows() if not isinstance(cells, Reject))
            yield from read_collection(table, columns, chain(rows, rest), self._context, self.state)
            yield self._position(*self._read_to)
            return
        if table == "QAPMJOBOS" and self._has_first():
            yield from self._after_first()
            return
        self._learn(table)
        self.state |= {"table": table, "columns": columns, "separator": self._between}
        yield from self._learn_order(table, columns, rows)
        self._learn_ends(self._read_with(RowReader(table, columns, self._context, self.state)))
        self._open_beside()

    def _read_with(self, reader: RowReader) -> RowReader:
        """Let a reader read the rows that follow.

        Between semicolons, as locales with decimal commas write them, the whole file decides what points separate.
        """

        @cache
        def decided() -> bool | None:
            places = reader.layout.number_places or None  # of a table that is not described, all
            return points_group(self._stream, self._context, self._between, len(reader.layout.columns), places)

        if points_may_group(self._between):
            reader.conversion.points_group = decided
        self.reader = reader
        return reader

    # files beside it

    def _learn(self, table: str) -> None:
        """Read the facts that the table needs from others of its collection."""
        for other in _NEEDED_BY.get(table, ()):
            if reading := self._read_beside(table, other):
                self.state |= {key: value for key, value in reading.state.items() if key in _LEARNT}

    def _learn_order(self, table: str, columns: list[str], rows: list[list[str]]) -> Iterator[Item]:
        """Infer the order of dates from all of them, where no setting gives it and single dates leave it open."""
        self.state.pop("order", None)
        if self._context.date_order or not self._context.complete:
            return
        names = canonical(cast(Description, description(table)), columns)
        places = [place for place, name in enumerate(names) if name in ("UTCTIME", "SAMPLE_TIME", "DATETIME", "DTETIM")]
        at = self._stream.seek(0, os.SEEK_CUR)
        lines = read_lines(self._stream, *self._read_to)
        behind = (decode(line.data).replace('"', "").split(self._between) for line in lines)
        order = only_order(
            cells[place] for cells in chain(rows, behind) for place in places if len(cells) == len(names)
        )
        self._stream.seek(at)
        if order is not None:
            self.state["order"] = order
            yield replace(inferred(order), section=table, system=self._context.system)

    def _learn_ends(self, reader: RowReader) -> None:
        """Read the ends of intervals from another file of the collection, where this one has only their numbers."""
        table = reader.layout.table.table
        if reader.layout.time_names != ("INTNUM",):
            return
        for other in _WITH_TIME:
            if (reading := self._read_beside(table, other)) and reading.reader is not None:
                self.state["ends"] = reading.reader.intervals.ends
                return

    def _neighbour(self, table: str, other: str) -> Neighbour | None:
        """Return the file of another table of the same collection."""
        return self._context.beside(table, other) if self._context.beside else None

    def _read_beside(self, table: str, other: str) -> _TableReading | None:
        """Read another file of the collection for what it teaches: its records come when it is read itself."""
        neighbour = self._neighbour(table, other)
        if neighbour is None:
            return None
        with neighbour.stream as stream:
            reading = _TableReading(stream, self._context_beside(table, other, complete=True), Position(0, 0))
            for _ in reading.items():
                pass
        return reading

    def _open_beside(self) -> None:
        assert self.reader is not None  # noqa: S101 - opened with it
        table = self.reader.layout.table.table
        if table != "QAPMJOBMI" or self._beside is not None:
            return
        neighbour = self._neighbour(table, "QAPMJOBOS")
        if neighbour is None:
            return
        self._beside_stream = neighbour.stream
        known = self.state.get("beside")
        context = replace(self._context_beside(table, "QAPMJOBOS", complete=self._context.complete), beside=None)
        items = parse(self._beside_stream, context, Position(**known) if known else None)
        self._beside = Beside(map(_of_beside, items), known, complete=self._context.complete)

    def _has_first(self) -> bool:
        """Return whether a readable QAPMJOBMI stands beside this QAPMJOBOS."""
        neighbour = self._neighbour("QAPMJOBOS", "QAPMJOBMI")
        if neighbour is None:
            return False
        with neighbour.stream as stream:
            headers = first_lines(read_head(stream))
        found = (table_of(split(header, separator(header)), "") for header in headers)
        return any(table is not None and table.table == "QAPMJOBMI" for table in found)

    def _after_first(self) -> Iterator[Item]:
        """Leave the rows to QAPMJOBMI beside it; where that was read without them, read both together now."""
        if not self._context.complete:
            return
        neighbour = self._neighbour("QAPMJOBOS", "QAPMJOBMI")
        if neighbour is None:
            detail = "expected QAPMJOBMI beside it, with which it was read so far: it is gone"
            yield Reject(Reason.UNREADABLE, detail, "none", section="QAPMJOBOS", system=self._context.system)
            return
        with neighbour.stream as stream:
            if not neighbour.read_alone:
                detail = "the rows of this file are read together with those of QAPMJOBMI beside it"
                yield Reject(Reason.READ_WITH_ANOTHER, detail, "all", section="QAPMJOBOS", system=self._context.system)
                return
            known = self.state.get("first")
            beside = self._neighbour_of_first
            context = replace(self._context_beside("QAPMJOBOS", "QAPMJOBMI", complete=True), beside=beside)
            for item in parse(stream, context, Position(**known) if known else None):
                if isinstance(item, Position):
                    own = item.state.get("beside") or {"byte_offset": 0, "line": 0}
                    first = {"byte_offset": item.byte_offset, "line": item.line, "state": item.state}
                    yield Position(own["byte_offset"], own["line"], {"first": first})
                else:
                    yield _of_beside(item, "QAPMJOBMI")

    def _neighbour_of_first(self, own: str, other: str) -> Neighbour | None:
        if other == "QAPMJOBOS":
            return Neighbour(cast(BinaryIO, Unclosed(self._stream)))
        return self._neighbour("QAPMJOBOS", other)

    def _context_beside(self, table: str, other: str, *, complete: bool) -> Context:
        """Return the context of the file of another table beside this one; its neighbours are those of this file."""
        beside = self._context.beside
        neighbours = beside and (lambda _, third: beside(table, third))
        return replace(self._context, file=other, complete=complete, beside=neighbours)

    def _joined(self, items: Items) -> Iterable[Item]:
        """Return the items with the figures of QAPMJOBOS added to their jobs."""
        if self._join is None:
            return self._begin_join(items)
        self._join.complete(items)
        return items

    def _begin_join(self, items: Items) -> Iterator[Item]:
        """Yield the items of QAPMJOBOS before the interval of `items`, then the completed `items`."""
        assert self._beside is not None  # noqa: S101 - there is a file beside it
        ts = interval_of(items)
        if ts is not None:
            yield from self._beside.before(ts)
            self._join = Join(self._beside.of(ts))
            self._join.complete(items)
        yield from items

    def _flush(self) -> Iterable[Item]:
        if self.reader is None:
            return []
        items = self.reader.flush()
        return items if self._beside is None else self._joined(items)

    def _end(self) -> Iterator[Item]:
        if self.reader is not None:
            items = self.reader.end()
            yield from items if self._beside is None else self._joined(items)
        if self._join is not None:
            yield from self._join.rest()
            self._join = None

    def _placed(self, reject: Reject, line: Line) -> Reject:
        reject.system = reject.system or self._context.system
        return of_line(reject, line)

    def _position(self, offset: int, line: int) -> Position:
        if self._beside is not None:
            self.state["beside"] = self._beside.position
        return Position(offset, line, orjson.loads(orjson.dumps(self.state)))


def _of_beside(item: Item, table: str = "QAPMJOBOS") -> Item:
    if isinstance(item, Reject):
        if item.reason is not Reason.COLUMN_MISSING:  # of the whole file, which its section names
            item.detail = f"{table} beside it, line {item.line}: {item.detail}"
        item.line = item.byte_offset = 0
    return item


def read_alone(position: Position) -> bool:
    """Return whether a file was read to `position` without the neighbour that has its other half."""
    return position.state.get("table") == "QAPMJOBMI" and "beside" not in position.state
