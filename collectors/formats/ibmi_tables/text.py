"""From the bytes of an export to rows of text: code page, separator, quotes, header.

An export says nothing of itself: not its code page (UTF-8, PC ASCII 819 or 1252, or EBCDIC 37 where it was copied as
it is), not its separator, and only with ADDCOLNAM(*SQL) its columns.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from typing import BinaryIO

from counterflow.collectors.formats.ibmi_tables.description import TIME_FIELDS, Description, tables
from counterflow.collectors.formats.ibmi_tables.layout import canonical
from counterflow.collectors.formats.ibmi_tables.values import Unusable
from counterflow.collectors.formats.nmon.lines import BOM
from counterflow.collectors.records import Reason

# EBCDIC 37 as Latin-1, byte by byte, so that offsets stay; its line ends 0x15 and 0x25 become a line feed
_FROM_EBCDIC = bytes(
    0x0A if byte in (0x15, 0x25) else ord(bytes([byte]).decode("cp037").encode("latin-1", "replace"))
    for byte in range(256)
)
_EBCDIC_TEXT = re.compile(rb"[\x40\x4b\x5b-\x5d\x60\x61\x6d\x6f\x7b\x7c\xc1-\xc9\xd1-\xd9\xe2-\xe9\xf0-\xf9]{4,}")
_HEAD = 64
_DECIMAL_COMMA = re.compile(r"(?<![^;\s\"\d+-]),(?=\d)")
_SEPARATORS = ",;\t"

_BEGINNING = re.compile(
    r'"?\s*\d{1,5}\s*"?[,;\t]\s*"?(?:\d{12}|\d{4}-\d\d-\d\d[-T ]\d\d[.:]\d\d[.:]\d\d)'  # INTNUM and a time
    r'|"?\s{0,4}"?[,;\t]"?1 ?"?[,;\t]"?\d{7}\s*"?$'  # QAPMCONF, key 1
)


def is_ebcdic(head: bytes) -> bool:
    """Say whether a file that begins with `head` is EBCDIC: its letters and digits are all above 0x80."""
    head = head[:_HEAD]
    high = sum(byte >= 0x80 for byte in head)
    return high > len(head) / 3 and b"," not in head and b";" not in head and (b"\x6b" in head or b"\x5e" in head)


class FromEbcdic:
    """A stream of EBCDIC 37 read as Latin-1; offsets are those of the stream."""

    def __init__(self, stream: BinaryIO) -> None:
        """Wrap the stream."""
        self._stream = stream

    def read(self, size: int = -1) -> bytes:
        """Read and translate."""
        return self._stream.read(size).translate(_FROM_EBCDIC)

    def seek(self, offset: int) -> int:
        """Seek in the stream."""
        return self._stream.seek(offset)


def decode(line: bytes) -> str:
    """Return the text of a line in UTF-8, else in 1252 (of which 819 is a part where it has characters)."""
    for codec in ("utf-8", "cp1252"):
        try:
            return line.decode(codec)
        except UnicodeDecodeError:
            continue
    return line.decode("latin-1")


def has_ebcdic(cells: Sequence[str]) -> bool:
    """Say whether a cell holds EBCDIC that was exported as if it were text, as columns without a code page are."""
    for cell in cells:
        if cell and not cell.isascii():
            data = cell.strip().encode("cp1252", "replace")
            if _EBCDIC_TEXT.fullmatch(data) and any(byte >= 0xC1 for byte in data):
                return True
    return False


def separator(header: str) -> str:
    """Return what separates the columns of a header."""
    return max(_SEPARATORS, key=header.count)


def split(line: str, between: str) -> list[str]:
    """Return the cells of a line; between semicolons a comma before a digit is a decimal one.

    Raises
    ------
    csv.Error : a cell is longer than any column is.
    """
    if between == ";" and "," in line:
        line = _DECIMAL_COMMA.sub(".", line)
    if '"' not in line:
        return line.split(between)
    parts = line.split('"')  # every second one stands between quotes
    if len(parts) % 2 and "" not in parts[2:-1:2] and between not in "".join(parts[1::2]):
        return "".join(parts).split(between)  # no separator and no quote within quotes: three times as fast
    return next(csv.reader((line,), delimiter=between))


def table_of(cells: Sequence[str], file: str) -> Description | None:
    """Return the table whose header the cells are; the name of the file decides between tables with equal columns."""
    if len(cells) < 2:
        return None
    known = tables()
    by_name = known.get(table_in(file) or "")
    found = [table for table in known.values() if table.recognised_by and _has(table, cells)]
    if by_name is not None and by_name.joins and any(table.table in by_name.joins for table in found):
        return by_name
    if found:
        return by_name if by_name in found else max(found, key=lambda table: len(table.recognised_by))
    if by_name is not None and not by_name.recognised_by and _is_header(cells, 1):
        return by_name
    return None


def without_header(cells: Sequence[str], file: str) -> Description | None:
    """Return the table whose rows begin like `cells`, if all its columns are known in their order."""
    name = table_in(file)
    if name is None and not _BEGINNING.match(",".join(cells)):
        return None
    for table in tables().values():
        if table.complete and len(cells) == len(table.time) + len(table.fields) and name in (None, table.table):
            return table
    return None


def no_header(cells: Sequence[str], file: str) -> Unusable:
    """Return why a file that begins with `cells` cannot be read, and the way out."""
    found = ", ".join(cells[:8])[:200]
    way_out = "export with ADDCOLNAM(*SQL), or write the names of the columns into a first line"
    if _is_header(cells):
        return Unusable(f"expected the columns of {table_in(file) or 'a table of IBM i'}, found {found}")
    if _BEGINNING.match(",".join(cells)):
        detail = f"expected a header, found a row of {len(cells)} columns, whose order was not published: {way_out}"
        return Unusable(detail, Reason.NO_HEADER)
    return Unusable(f"expected the names of columns of a table of IBM i, found {found!r}: {way_out}")


def table_in(file: str) -> str | None:
    """Return the table that the name of a file has in it."""
    name = file.replace("\\", "/").rsplit("/", 1)[-1].upper()
    for table in sorted(tables(), key=len, reverse=True):
        at = name.find(table)
        if at >= 0 and not name[at - 1 : at].isalnum() and not name[at + len(table) :][:1].isalnum():
            return table
    return None


def recognise(head: bytes) -> bool:
    """Say whether `head` begins like an export: with a header of one of the tables, or with rows of one."""
    if is_ebcdic(head):
        head = head.translate(_FROM_EBCDIC)
    first = decode(head.removeprefix(BOM).split(b"\n", 1)[0][:32_768]).strip()
    if not any(between in first for between in _SEPARATORS):
        return False
    try:
        cells = split(first, separator(first))
    except csv.Error:
        return False
    return table_of(cells, "") is not None or _is_header(cells) or _BEGINNING.match(first) is not None


def _has(table: Description, cells: Sequence[str]) -> bool:
    return set(table.recognised_by) <= set(canonical(table, cells))


def _is_header(cells: Sequence[str], least: int = 2) -> bool:
    """Say whether cells are column names, `least` of which place rows in time; in summaries (SM…) it is one."""
    names = {cell.strip().upper() for cell in cells}
    least = 1 if "SAMPLE_TIME" in names or any(name.startswith("SM") for name in names) else least
    return len(names & set(TIME_FIELDS)) >= least
