"""Converts tables in other notations to CSV in UTF-8: sheets of a workbook, rows in JSON, text in EBCDIC.

Every format of tables reads CSV, so none has to know the other notations. Input that a format reads as it is keeps its
notation. calamine reads workbooks; rows of JSON are found by own code, since each tool nests them in another object.
"""

from __future__ import annotations

import codecs
import csv
import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import date, datetime, timedelta
from typing import Any, BinaryIO, NamedTuple, cast

from counterflow.collectors.formats import recognise
from counterflow.collectors.text.codepages import ebcdic_codec, from_ebcdic, is_ebcdic

MAX_DOCUMENT = 64 << 20
"""Longest accepted JSON object in bytes; an array may be longer."""

_BLOCK = 1 << 18
_OBJECTS = re.compile(r"\[\s*(?=\{)")
_BEGIN = re.compile(r"\s*(?:\[\s*)?\{")
_BETWEEN = re.compile(r"[\s,\[\]]*")
_LINE_END = re.compile(r"\s*[\r\n]+\s*")
_DECODER = json.JSONDecoder()
_TRIED = 20
_WORKBOOK = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"  # .xls; .xlsx and .ods are zip archives
_OF_A_COLUMN = {"type", "label", "display_size"}

Tree = Any


class Sheet(NamedTuple):
    """A sheet of a workbook that is not empty: its name, and its rows as CSV."""

    name: str
    lines: Iterator[bytes]


def table_dress(head: bytes) -> str | None:
    """Return the notation of a table that begins with `head`; None where it is CSV, or no known table."""
    if head.startswith(_WORKBOOK):
        return "workbook"
    if is_ebcdic(head):
        return "ebcdic" if recognise(from_ebcdic(head, ebcdic_codec(head)).encode()) else None
    if head.lstrip(codecs.BOM_UTF8 + b" \t\r\n")[:1] in (b"[", b"{") and recognise(head) is None:
        text = head.decode("utf-8-sig", "ignore")
        return "json" if any(recognise(_line(names)) for names in _columns(text)) else None
    return None


def sheets(stream: BinaryIO) -> list[Sheet]:
    """Return the sheets of a workbook: .xlsx, .xls, .ods.

    Raises
    ------
    ValueError : it is a document of another kind, damaged, or encrypted.
    """
    from python_calamine import CalamineError, CalamineWorkbook  # of few files: an agent that meets none does without

    try:
        book = CalamineWorkbook.from_filelike(stream)
        found = [(name, book.get_sheet_by_name(name)) for name in book.sheet_names]
    except CalamineError as error:
        raise ValueError(f"no workbook that can be read: {error}") from None
    return [Sheet(name, (_line(row) for row in sheet.iter_rows())) for name, sheet in found if sheet.height]


def csv_of_json(stream: BinaryIO) -> Iterator[bytes]:
    """Yield rows of JSON as CSV: objects in an array or one per line, or rows in an object that may also describe them.

    Columns stand in the order in which objects first name them; descriptions of columns, as in `metadata`, name those
    of rows without names.

    Raises
    ------
    ValueError : what follows is not JSON, or cut.
    """
    names: dict[str, None] = {}
    with suppress(ValueError):  # it is raised again behind the last row
        for row in _rows(stream):
            names.update(dict.fromkeys(row))
    yield _line(names)
    for row in _rows(stream):
        yield _line(row.get(name) for name in names)


def utf_8_of_ebcdic(stream: BinaryIO) -> Iterator[bytes]:
    """Yield text in EBCDIC as UTF-8; the first bytes decide between its code pages."""
    codec = ebcdic_codec(stream.read(1 << 20))
    stream.seek(0)
    while found := stream.read(_BLOCK):
        yield from_ebcdic(found, codec).encode()


def _columns(head: str) -> Iterator[list[str]]:
    """Yield the column names of possible rows in the beginning of a document."""
    begin = _BEGIN.match(head)
    if begin is None:
        return
    places = [begin.end() - 1, *(match.end() for match in _OBJECTS.finditer(head))]
    for place in places[:_TRIED]:
        try:
            found, end = _DECODER.raw_decode(head, place)
        except (ValueError, RecursionError):
            continue
        described = [found]
        while (following := _BETWEEN.match(head, end)) and head[following.end() : following.end() + 1] == "{":
            if len(described) > 1000:
                break
            try:
                one, end = _DECODER.raw_decode(head, following.end())
            except (ValueError, RecursionError):
                break
            described.append(one)
        yield list(found)
        yield _named(described)


def _rows(stream: BinaryIO) -> Iterator[Mapping[str, object]]:
    for tree in _documents(stream):
        yield from _within(tree)


def _within(tree: Tree) -> Iterable[Mapping[str, object]]:
    """Return the rows in an object: those of the longest list in it, else the object itself."""
    lists = list(_lists(tree, 3))
    described = [
        found for found in lists if isinstance(found[0], dict) and "name" in found[0] and _OF_A_COLUMN & {*found[0]}
    ]
    rows = max((found for found in lists if found not in described), key=len, default=None)
    if rows is None:
        return () if described else (tree,)
    names = _named(described[0]) if described else []
    return [row if isinstance(row, dict) else dict(zip(names, row, strict=False)) for row in rows]


def _lists(tree: Tree, depth: int) -> Iterator[list[Any]]:
    if isinstance(tree, dict) and depth:
        for value in tree.values():
            if isinstance(value, list) and value and isinstance(value[0], dict | list):
                yield value
            else:
                yield from _lists(value, depth - 1)


def _named(described: Sequence[Tree]) -> list[str]:
    """Return the names in descriptions of columns; none where one has no name."""
    names = [str(one.get("name", "")) for one in described if isinstance(one, dict)]
    return names if all(names) else []


def _documents(stream: BinaryIO) -> Iterator[dict[str, Any]]:
    """Yield the objects of an array, or objects that follow one another.

    Raises
    ------
    ValueError : what follows is not JSON, or cut, or longer than `MAX_DOCUMENT`.
    """
    stream.seek(0)
    decoder = codecs.getincrementaldecoder("utf-8-sig")("replace")
    text, at, wanted = "", 0, _BLOCK
    while True:
        at = cast("re.Match[str]", _BETWEEN.match(text, at)).end()
        try:
            tree, at = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError) as error:
            if len(text) - at > MAX_DOCUMENT:
                raise ValueError(f"an object is longer than {MAX_DOCUMENT} bytes") from None
            block = stream.read(wanted)
            if not block:
                if text[at:].strip():
                    raise ValueError(f"what follows is not JSON, or cut: {error}") from None
                return
            text, at, wanted = text[at:] + decoder.decode(block), 0, max(_BLOCK, len(text) - at)
            continue
        if isinstance(tree, dict):
            yield tree


def _line(values: Iterable[object]) -> bytes:
    """Return values as a line of CSV in UTF-8."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerow([_written(value) for value in values])
    return out.getvalue().encode("utf-8", "replace")


def _written(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.0f}" if value.is_integer() and abs(value) < 1e18 else repr(value)
    if isinstance(value, datetime):  # Excel stores fractions of days: round to milliseconds
        return (value + timedelta(microseconds=500)).isoformat(" ", "milliseconds").removesuffix(".000")
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, timedelta):
        return repr(value.total_seconds())
    if isinstance(value, dict | list):
        return json.dumps(value)
    return _LINE_END.sub(" ", str(value))
