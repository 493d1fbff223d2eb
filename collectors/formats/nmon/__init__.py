"""nmon recordings of AIX, VIOS and Linux.

A recording is in the order of the recorder, or it was sorted (nmon reference: 1.1, 1.5 item 7): the recorder's own
advice is to sort it before it goes into a spreadsheet. Then all stamps come last. A sorted file is read through an
index of its rows, snapshot by snapshot, and yields the records of the file it was made from.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import chain
from typing import Any, BinaryIO

from counterflow.collectors.formats.nmon.parser import TAG, Parser
from counterflow.collectors.records import Context, Item, Position, Reason, Reject, resumable
from counterflow.collectors.text.lines import BOM, Line, read_head, read_lines, with_commas, without_padding

Lines = Callable[..., Iterator[Line]]

_FIRST_BYTES = 4096
_ROW_BYTES = 4096
"""Bytes read at a time where rows are fetched one by one: most rows are shorter."""
_MARK = re.compile(
    rb"^(?:\xef\xbb\xbf)?(?:AAA[,;](?:progname|command|version|host|date|time|interval|build|runname|user)[,;]"
    rb"|ZZZZ[,;]T\d{4,16}[,;])",
    re.MULTILINE,
)


def recognises(head: bytes) -> bool:
    """Return whether a file that begins with `head` is an nmon recording."""
    return _MARK.search(head) is not None


def parse(stream: BinaryIO, context: Context, position: Position | None = None) -> Iterator[Item]:
    """Return the records of each snapshot when it is whole, its manifest rows, and a position to resume at."""
    if position is None and not read_head(stream, 1):
        return iter([Reject(Reason.EMPTY_FILE, "the file is empty", "none")] if context.complete else [])
    items = _items(stream, context, position)
    return items if context.complete else resumable(items)


def _items(stream: BinaryIO, context: Context, position: Position | None) -> Iterator[Item]:
    state = dict(position.state) if position else {}
    lines = _notation(stream)
    in_order = "sorted" not in state if position else _is_in_order(lines(stream))
    if not in_order and not context.complete:
        return  # a growing file is in order: this one is incomplete, or has only begun
    if in_order is False:
        yield from _sorted(stream, lines, context, state)
        return
    parser = Parser(context, state or None)
    offset, number = (position.byte_offset, position.line) if position else (0, 0)
    line = Line(number, offset, b"", offset)
    for line in lines(stream, offset, number):
        if line.fault is Reason.CUT_LINE and not context.complete:
            return
        parser.feed(line)
        if parser.items:
            yield from parser.pop()
    if context.complete:
        parser.finish(line.end, line.number)
        yield from parser.pop()


def _notation(stream: BinaryIO) -> Lines:
    """Return the reader of lines in the notation that the first line shows."""
    first = read_head(stream, _FIRST_BYTES).removeprefix(BOM).partition(b"\n")[0].removesuffix(b"\r")
    separator = first[3:4]
    lines: Lines = with_commas if first.startswith(b"AAA;") else read_lines
    if first.startswith((b"AAA,", b"AAA;")) and first.endswith(2 * separator):
        return partial(without_padding, lines, first.count(separator))
    return lines


def _is_in_order(lines: Iterable[Line]) -> bool | None:
    """Return whether the first row of a file comes after a stamp, or None where there is neither."""
    for line in lines:
        section, tag = _tag(line.data)
        if section == b"ZZZZ":
            return True
        if tag is not None:
            return False
    return None


def _tag(data: bytes) -> tuple[bytes, bytes | None]:
    """Return section and snapshot of a line; None where it names no snapshot."""
    section, _, rest = data.partition(b",")
    if section in (b"AAA", b"ERROR") or section.startswith(b"BBB"):
        return section, None
    first, _, rest = rest.partition(b",")
    if section == b"TOP":
        first = rest.partition(b",")[0]
    return section, first if TAG.fullmatch(first) else None


def _sorted(stream: BinaryIO, lines: Lines, context: Context, state: dict[str, Any]) -> Iterator[Item]:
    """Yield the items of a sorted file. A position is the number of the last snapshot that was yielded."""
    done = state.pop("sorted", None)
    parser = Parser(context, state or None)
    index: dict[int, array[int]] = {}
    stamps: dict[int, array[int]] = {}
    end = last = 0
    for line in lines(stream):
        end, last = line.end, line.number
        section, tag = _tag(line.data)
        if tag is None or line.fault is not None:
            if done is None:
                parser.feed(line)
        else:
            rows = (stamps if section == b"ZZZZ" else index).setdefault(int(tag[1:]), array("Q"))
            rows.extend((line.offset, line.number))
    for number in sorted(index.keys() | stamps.keys()):
        if done is not None and number <= done:
            continue
        for line in _rows(stream, lines, stamps.get(number), index.get(number)):
            if line.fault is Reason.REPEATED_BLOCK:
                parser.refuse(line, line.fault, "two recordings were sorted together: either may own this row", number)
            else:
                parser.feed(line)
        if parser.settle():
            yield from _without_positions(parser.pop())
            yield Position(0, 0, {**parser.state(), "sorted": number})
    parser.finish(end, last)
    yield from _without_positions(parser.pop())
    yield Position(end, last, parser.state())


def _without_positions(items: list[Item]) -> Iterator[Item]:
    """Yield the items without the parser's positions, which do not apply to a sorted file."""
    return (item for item in items if not isinstance(item, Position))


def _rows(stream: BinaryIO, lines: Lines, stamps: array[int] | None, rows: array[int] | None) -> Iterator[Line]:
    """Yield the lines of one snapshot, its stamp first; with two stamps all have the fault `repeated_block`."""
    first = list(_at(stream, lines, stamps))
    mixed = len({line.data for line in first}) > 1
    for line in chain(first, _at(stream, lines, rows)):
        yield line._replace(fault=Reason.REPEATED_BLOCK) if mixed else line


def _at(stream: BinaryIO, lines: Lines, places: array[int] | None) -> Iterator[Line]:
    """Yield the lines at the places of an index: pairs of offset and number."""
    each = iter(places or ())
    for offset, number in zip(each, each, strict=True):
        yield next(lines(stream, offset, number - 1, _ROW_BYTES))
