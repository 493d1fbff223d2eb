"""Lines of a byte stream with their places; memory is bounded whatever the stream holds."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import asdict
from typing import BinaryIO, NamedTuple, TypeVar

from counterflow.collectors.records import Context, Item, Position, Reason, Reject, placed

BLOCK_BYTES = 1 << 20
MAX_LINE_BYTES = 1 << 20
"""A longer line is not kept: nmon's longest rows, of thousands of devices on one line, are far shorter."""
KEPT_BYTES = 64 << 10
"""How much of a line that is too long is kept for its reject."""
STEP = 1000
"""Lines from one position to the next: each position holds a copy of what is remembered."""

_DECIMAL_COMMA = re.compile(rb"(?<=\d),(?=\d)")

BOM = b"\xef\xbb\xbf"

M = TypeVar("M")


class Line(NamedTuple):
    """One line without its line end; the next begins at `end`."""

    number: int
    offset: int
    data: bytes
    end: int
    fault: Reason | None = None
    written: bytes | None = None

    @property
    def raw(self) -> bytes:
        """The bytes of the line as they stand in the file."""
        return self.data if self.written is None else self.written


def read_lines(stream: BinaryIO, offset: int = 0, number: int = 0, block_bytes: int = BLOCK_BYTES) -> Iterator[Line]:
    """Yield the lines from `offset` on; `number` lines lie before it. `block_bytes` are read at a time.

    The last line has the fault `cut_line` where no line end follows it. Of a line above `MAX_LINE_BYTES`, fault
    `line_too_long`, the first `KEPT_BYTES` are kept and the rest is read past.
    """
    stream.seek(offset)
    pieces: list[bytes] = []
    size = 0  # bytes of the unfinished line so far, kept or not
    while block := stream.read(block_bytes):
        first, *others = block.split(b"\n")
        pieces.append(first)
        size += len(first)
        if size > MAX_LINE_BYTES:
            pieces = [b"".join(pieces)[:KEPT_BYTES]]
        if not others:
            continue
        number += 1
        end = offset + size + 1
        fault = Reason.LINE_TOO_LONG if size > MAX_LINE_BYTES else None
        yield Line(number, offset, _clean(b"".join(pieces), offset), end, fault)
        offset = end
        last = others.pop()
        for data in others:
            number += 1
            end = offset + len(data) + 1
            yield Line(number, offset, data[:-1] if data[-1:] == b"\r" else data, end)
            offset = end
        pieces, size = [last], len(last)
    if size:
        fault = Reason.LINE_TOO_LONG if size > MAX_LINE_BYTES else Reason.CUT_LINE
        yield Line(number + 1, offset, _clean(b"".join(pieces), offset), offset + size, fault)


def placed_in(line: Line, item: Item) -> Item:
    """Return an item with its place; a reject has the bytes of the line where nothing of it was kept."""
    if isinstance(item, Reject):
        item.raw = line.raw if item.kept == "none" else b""
    return placed(item, line.number, line.offset)


def read_items(
    stream: BinaryIO,
    position: Position | None,
    context: Context,
    memory: Callable[..., M],
    items: Callable[[Line, M, Context], Iterator[Item]],
) -> Iterator[Item]:
    """Yield the items of every line, each as `placed_in` it.

    A last line without a line end is read only where the data is complete. `items` yields those of one line. `memory`
    is the dataclass of JSON values that is kept from one line to the next.
    """
    begun = position or Position(0, 0)
    kept = memory(**deepcopy(begun.state))
    end, number = begun.byte_offset, begun.line
    for line in read_lines(stream, end, number):
        if line.fault is Reason.CUT_LINE and not context.complete:
            break
        if number % STEP == 0 and end > begun.byte_offset:
            yield Position(end, number, asdict(kept))  # type: ignore[call-overload]
        yield from (placed_in(line, item) for item in items(line, kept, context))
        end, number = line.end, line.number
    if end > begun.byte_offset:
        yield Position(end, number, asdict(kept))  # type: ignore[call-overload]
    elif end == 0 and context.complete:
        yield Reject(Reason.EMPTY_FILE, "the file is empty", "none")


def read_head(stream: BinaryIO, size: int = KEPT_BYTES) -> bytes:
    """Return the first `size` bytes of the stream, or all where there are fewer."""
    stream.seek(0)
    head = b""
    while len(head) < size and (block := stream.read(size - len(head))):
        head += block
    return head


def with_commas(stream: BinaryIO, offset: int = 0, number: int = 0, block_bytes: int = BLOCK_BYTES) -> Iterator[Line]:
    """Yield the lines of a recording with a locale's semicolons and decimal commas in the usual notation of nmon.

    Between semicolons a comma between digits is certainly a decimal one.
    """
    for line in read_lines(stream, offset, number, block_bytes):
        data = _DECIMAL_COMMA.sub(b".", line.data).replace(b";", b",")
        yield line._replace(data=data, written=line.data)


def without_padding(
    lines: Callable[..., Iterator[Line]], separators: int, stream: BinaryIO, *place: int
) -> Iterator[Line]:
    """Yield the lines without the empty fields with which a spreadsheet made all as long as the longest.

    A line with fewer `separators` has none. `place` is passed to `lines`.
    """
    for line in lines(stream, *place):
        if line.data.endswith(b",") and line.data.count(b",") >= separators:
            line = line._replace(data=line.data.rstrip(b","), written=line.raw)
        yield line


def _clean(data: bytes, offset: int) -> bytes:
    if offset == 0:
        data = data.removeprefix(BOM)
    return data[:-1] if data[-1:] == b"\r" else data
