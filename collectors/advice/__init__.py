"""Advice on a file that no format recognises: what it looks like and what would help, from its first bytes."""

from __future__ import annotations

import codecs
import csv
import re
from collections.abc import Sequence

from counterflow.collectors.advice.marks import (
    ANYTHING_ELSE,
    BINARIES,
    COUNTER_OF_DB2,
    CSVS,
    LOG_STATISTICS,
    NAMED,
    NOTHING,
    SMF,
    TEXTS,
    TIME,
)
from counterflow.collectors.formats import recognise
from counterflow.collectors.formats.db2_log_csv import COUNTS
from counterflow.collectors.formats.ibmi_tables.description import TIME_FIELDS, tables
from counterflow.collectors.formats.ibmi_tables.headers import incomplete
from counterflow.collectors.text.cells import separator, split
from counterflow.collectors.text.codepages import decode, is_ebcdic
from counterflow.collectors.text.lines import BOM

_SHOWN = 60
_MESSAGE = re.compile(
    r"\b(?:CPF|CPD|CPI|MCH|SQL)\w?\d{4}\w?\b|\bHSC[A-Z0-9]{5}\b|[Nn]o such file|[Pp]ermission denied|not found"
)
_SYSTEM_OF_SMF = re.compile(r"[A-Z0-9@#$]{1,4} {0,3}")


def advice(head: bytes) -> str:
    """Return what a file that begins with `head` looks like, why it is not read, and what would help."""
    if not head.strip(b"\0\r\n\t\x1a "):
        return NOTHING
    if head.startswith(b"PK\x03\x04"):
        # other archives were unpacked before
        suite = "LibreOffice" if b"application/vnd.oasis.opendocument" in head[:200] else "Office"
        return f"a workbook or document of {suite}: save the sheet as CSV"
    for magic, looks, way_out in BINARIES:
        if head.startswith(magic):
            return f"{looks}: {way_out}"
    if (type_ := _smf(head)) is not None:
        return f"a dump of SMF records, the first of type {type_}: {next(way for types, way in SMF if type_ in types)}"
    for codec, name, why in _encodings(head):
        text = head.decode(codec, "ignore").removeprefix("\ufeff")
        return f"{name} text ({_known(text) or 'of no format'}): {why}"
    if is_ebcdic(head):
        return "EBCDIC text of no format: copy it as text, or convert it if it has line ends: iconv -f IBM-037 -t UTF-8"
    if b"\0" in head or sum(byte < 32 and byte not in b"\t\n\f\r\x1a\x1b" for byte in head) > len(head) / 20:
        return f"binary data that begins with {head[:8].hex(' ')}: {ANYTHING_ELSE}"
    text = decode(head.removeprefix(BOM))
    if "\n" not in text and "\r" in text:
        text = text.replace("\r", "\n")
        if known := _known(text):
            return f"text whose lines end with CR alone ({known}): convert it: tr '\\r' '\\n'"
    return _looks(text)


def _smf(head: bytes) -> int | None:
    """Return the type of the SMF record that a dump begins with, with or without its descriptor word, else None."""
    for begin in (4, 0):
        header = head[begin : begin + 14]  # flags, type, time, date as 0cyydddF, system
        is_date = len(header) == 14 and header[6] in (0, 1) and header[9] & 0x0F == 0x0F
        if is_date and _SYSTEM_OF_SMF.fullmatch(header[10:14].decode("cp037")):
            return header[1]
    return None


def _encodings(head: bytes) -> list[tuple[str, str, str]]:
    """Return codec, name and way out of a text in UTF-32, or UTF-16 without a byte order mark; none for any other."""
    if head.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):
        return [("utf-32", "UTF-32", "convert it: iconv -f UTF-32 -t UTF-8")]
    pairs = len(head) // 2
    for codec, name, zeros in (("utf-16-le", "UTF-16LE", head[1::2]), ("utf-16-be", "UTF-16BE", head[::2])):
        text = head[: 2 * pairs].decode(codec, "ignore")
        is_text = sum(char.isprintable() or char in "\t\n\f\r" for char in text) > 0.95 * pairs
        if pairs >= 4 and zeros.count(0) > 0.8 * pairs and is_text:
            return [(codec, name, f"convert it: iconv -f {name} -t UTF-8")]
    return []


def _known(text: str) -> str | None:
    """Return the format that would read a text, None where there is none."""
    form = recognise(text.encode())
    return f"`{form.name}`" if form else None


def _looks(text: str) -> str:
    """Return what a text looks like, and what would help."""
    if known := _known(text):
        return known
    for found in TEXTS:
        if found.mark.search(text):
            return f"{found.looks}: {found.way_out}"
    lines = [line for line in text.split("\n") if line.strip()]
    if not lines:  # form feeds, or blanks of other alphabets
        return NOTHING
    between = separator(lines[0])
    try:
        cells = [cell.strip() for cell in split(lines[0][:32_768].rstrip("\r"), between)]
    except csv.Error:
        cells = []
    if (
        len(lines) <= 20
        and len(cells) < 4
        and (message := next((line for line in lines if _MESSAGE.search(line)), None))
    ):
        return f"a message and not data, `{_shown(message)}`: read it, and export again"
    if len(cells) > 1:
        return _table(cells)
    if lines[0].count("|") > 1:
        return "a table whose cells `|` separates: separate them by commas, as FLDDLM of CPYTOIMPF does by default"
    return f"text that begins with `{_shown(lines[0])}`: {ANYTHING_ELSE}"


def _table(cells: Sequence[str]) -> str:
    """Return what a table that begins with a line of these cells looks like, and what would help."""
    if any(map(TIME.fullmatch, cells)) or all(not cell.strip("+-0123456789.,: ") for cell in cells):
        what = f"rows of {len(cells)} columns without the names of the columns"
        return f"{what}: name them in a first line, or {NAMED}"
    names = {cell.upper() for cell in cells}
    if (near := _ibmi(names)) is not None:
        return near
    missing = [column for column in CSVS[LOG_STATISTICS] if column.upper() not in names]
    if missing and any(COUNTER_OF_DB2.fullmatch(name) for name in names):
        way_out = "name its columns of time, system and subsystem so"
        return f"a table of {LOG_STATISTICS}, without {', '.join(missing)}: {way_out}"
    name, needed = max(CSVS.items(), key=lambda one: len(names & {column.upper() for column in one[1]}) / len(one[1]))
    missing = [column for column in needed if column.upper() not in names]
    if 2 * len(missing) <= len(needed):
        if name == LOG_STATISTICS and names.isdisjoint(map(str.upper, COUNTS)):
            missing.append("a count")
        what = f"without {', '.join(missing)}" if missing else "whose first line does not name each column once"
        count = " and a count, as QJSTCIWR" if name == LOG_STATISTICS else ""
        return f"a table like {name}, {what}: its first line names {','.join(needed)}{count}"
    shown = ", ".join(cells[:6]) + (", …" if len(cells) > 6 else "")
    return f"a table with the columns {_shown(shown)}, which are of no format: {ANYTHING_ELSE}"


def _ibmi(names: set[str]) -> str | None:
    """Return what a table of IBM i with columns or labels of these names lacks; None where it is no such table."""
    if (found := incomplete(names)) is not None:
        return found
    by_label = {
        table.table: len(names & {field.text.upper() for field in table.fields.values() if field.text})
        for table in tables().values()
    }
    near = max(by_label, key=lambda table: by_label[table])
    labels = {"INTERVAL NUMBER", "DATE-TIME", "DATE AND TIME", "ELAPSED TIME", "ELAPSED SECONDS", "INTERVAL SECONDS"}
    if by_label[near] >= 2 or (names & labels and by_label[near]):
        return f"columns of Collection Services member {near} by their labels, without a time: export all columns"
    if len(names & labels) >= 2 or "INTERVAL NUMBER" in names or names & set(TIME_FIELDS):
        return f"a member of Collection Services by labels of no known member: export all columns; {NAMED}"
    return None


def _shown(text: str) -> str:
    text = "".join(c if c.isprintable() else "·" for c in text.strip())
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
