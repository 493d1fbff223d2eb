"""What a file that no format knows looks like, and what would help: one sentence, from its first bytes."""

from __future__ import annotations

import codecs
import csv
import re
from collections.abc import Sequence
from typing import NamedTuple

from counterflow.collectors.formats import recognise
from counterflow.collectors.formats.ibmi_tables.description import TIME_FIELDS, tables
from counterflow.collectors.formats.ibmi_tables.headers import NAMES
from counterflow.collectors.text.cells import separator, split
from counterflow.collectors.text.codepages import decode, ebcdic_codec, from_ebcdic, is_ebcdic
from counterflow.collectors.text.lines import BOM

_SHOWN = 60
_ANYTHING_ELSE = "docs/formats names the files that are read and how each is produced"
_RECORD = "record with `nmon -f -t -s 15 -c 5760`"
_NAMES = f"export with column names: {NAMES}"

_BINARIES = (
    (b"\x89PNG\r\n\x1a\n", "a PNG", "a picture holds no counters: get the file it was drawn from"),
    (b"\xff\xd8\xff", "a JPEG", "a picture holds no counters: get the file it was drawn from"),
    (b"GIF8", "a GIF", "a picture holds no counters: get the file it was drawn from"),
    (b"%PDF-", "a PDF", "a printed report is not read: get the file or the export it was made from"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old workbook or document of Office", "save the sheet as CSV"),
    (b"PAR1", "a Parquet file", "export as CSV, with the names of the columns"),
    (b"SQLite format 3\x00", "an SQLite database", "export the table as CSV, with the names of the columns"),
    (b"\x7fELF", "a program", "run it, and keep what it writes"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive", "unpack it, and give the files in it"),
    (b"Rar!\x1a\x07", "a RAR archive", "unpack it, and give the files in it"),
    (b"\x1f\x9d", "a file of compress", "unpack it: uncompress"),
    (b"\x96\xd5", "a data file of sar", f"it is not read: {_RECORD}"),
)


class _Text(NamedTuple):
    """What a text looks like that has a mark in it."""

    mark: re.Pattern[str]
    looks: str
    way_out: str


def _text(mark: str, looks: str, way_out: str) -> _Text:
    return _Text(re.compile(mark, re.MULTILINE), looks, way_out)


_TEXTS = (
    _text(
        r"\Aversion https://git-lfs\.github\.com/spec/", "a pointer of Git LFS", "fetch the file itself: git lfs pull"
    ),
    _text(r"\A\s*(?:<!--[^>]*-->\s*)?(?i:<!doctype html|<html)", "an HTML page", "save the data it links to, or shows"),
    _text(
        r"\A\s*<(?:\?xml[^>]*>\s*<)*ddsml\b",
        "a report of RMF's postprocessor",
        "ask for a report of Monitor III: /gpm/rmfm3?report=SYSINFO&resource=,SYSTEM,MVS_IMAGE",
    ),
    _text(
        r"\A\s*<(?:\?xml[^>]*>\s*<)?(?:\w+:)?feed\b",
        "a feed of an HMC, which links to the metrics",
        "fetch the JSON it links to",
    ),
    _text(r"\A\s*<\?xml|\A\s*<\w+[\s>]", "XML", "no format is XML: export as CSV or JSON"),
    _text(
        r"^(?:CPU_ALL|CPU\d+|MEM|PROC|NET|NETPACKET|JFSFILE|DISK[A-Z]+\d*|LPAR|TOP)[,;]",
        "nmon data without its AAA lines and ZZZZ stamps",
        f"without them neither system nor times are known: take the whole recording, or {_RECORD}",
    ),
    _text(
        r'\A\s*[\[{][^\0]*"(?:cpu_total|proc_meminfo|proc_vmstat|stat_counters|snapshot_loop)"\s*:',
        "JSON of njmon that does not begin a sample",
        "take the whole recording: a sample begins with its timestamp",
    ),
    _text(
        r'\A\s*[\[{][^\0]*"(?:utilInfo|utilSamples|serverUtil|lparsUtil)"\s*:',
        "JSON of an HMC without `systemUtil` around it",
        "keep the whole answer for processed metrics",
    ),
    _text(
        r'\A\s*\{[^\n]*"(?:table_name|product_code|write_time)"\s*:',
        "JSON of OMEGAMON Data Provider without its table or time",
        "forward `table_name` and `write_time` of each record",
    ),
    _text(r"\A\s*[\[{]\s*[\"\[{\]}\d]", "JSON of something else", _ANYTHING_ELSE),
    _text(r"\ALinux [^\n]+\(\d+ CPU\)", "a text of sar, iostat or mpstat", _RECORD),
    _text(r"\A\s*procs -+memory|\A[^\n]*\bkthr\b|^System configuration: lcpu=", "output of vmstat", _RECORD),
    _text(r"\Atop - \d\d:\d\d|\A[^\n]*load averages?:", "output of top", _RECORD),
    _text(
        r"Work with Active Jobs|\bWRKACTJOB\b",
        "a print of WRKACTJOB",
        "query QSYS2.ACTIVE_JOB_INFO, or export QAPMJOBMI of Collection Services",
    ),
    _text(
        r"Work with System Status|\bWRKSYSSTS\b",
        "a print of WRKSYSSTS",
        "query QSYS2.SYSTEM_STATUS and QSYS2.MEMORY_POOL",
    ),
    _text(
        r"Work with Disk Status|\bWRKDSKSTS\b",
        "a print of WRKDSKSTS without a unit",
        "print it again: WRKDSKSTS OUTPUT(*PRINT)",
    ),
    _text(
        r"\bDSN\w\d{3}[A-Z]\b",
        "messages of Db2 for z/OS without a listing of the log",
        "keep what -DISPLAY LOG answers, from DSNJ370I on",
    ),
    _text(
        r"C P U  +A C T I V I T Y|\bR M F\b",
        "a printed report of RMF",
        "ask its Distributed Data Server (docs/collectors/rmf-dds.md)",
    ),
    _text(r"\bOMEGAMON\b", "a report of OMEGAMON without a LOG ACTIVITY block", "print the statistics report with it"),
)
_MESSAGE = re.compile(r"\b(?:CPF|CPD|CPI|MCH|SQL|HSCL?)\w?\d{4}\w?\b|[Nn]o such file|[Pp]ermission denied|not found")

_CSVS = {
    "a log of queries": ("workload", "query", "start", "end"),
    "work done by a workload": ("time_utc", "workload", "run_id", "unit_of_work", "done"),
    "log statistics of Db2": ("time_utc", "system", "subsystem"),
    "a monitor table of Q Replication": ("monitor_time", "recvq"),
}


def advice(head: bytes) -> str:
    """Return what a file looks like that begins with `head`, why it is not read, and what would help."""
    if not head.strip(b"\0\r\n\t\x1a "):
        return "zeros or blanks alone: there is nothing in it, copy it again"
    if head.startswith(b"PK\x03\x04"):
        return _zip(head)
    for magic, looks, way_out in _BINARIES:
        if head.startswith(magic):
            return f"{looks}: {way_out}"
    for codec, name, why in _encodings(head):
        text = head.decode(codec, "ignore").removeprefix("\ufeff")
        return f"{name} text ({_known(text) or 'of no format'}): {why}"
    if is_ebcdic(head):
        text = from_ebcdic(head, ebcdic_codec(head))
        way_out = "copy it as text, or convert it: iconv -f IBM-037 -t UTF-8"
        return f"EBCDIC text that was copied as it is ({_known(text) or 'of no format'}): {way_out}"
    if b"\0" in head or sum(byte < 32 and byte not in b"\t\n\f\r\x1a\x1b" for byte in head) > len(head) / 20:
        return f"binary data that begins with {head[:8].hex(' ')}: {_ANYTHING_ELSE}"
    return _looks(decode(head.removeprefix(BOM)))


def _zip(head: bytes) -> str:
    """Return what a zip archive is: workbooks are such, too."""
    if b"[Content_Types].xml" in head[:4096] or b"xl/workbook" in head:
        return "a workbook or document of Office: save the sheet as CSV"
    if b"application/vnd.oasis.opendocument" in head[:200]:
        return "a document of LibreOffice: save the sheet as CSV"
    return "a zip archive: unpack it, and give the files in it"


def _encodings(head: bytes) -> list[tuple[str, str, str]]:
    """Return codec, name and way out of a text in UTF-32, or UTF-16 without a mark; none where it is neither."""
    if head.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):
        return [("utf-32", "UTF-32", "convert it: iconv -f UTF-32 -t UTF-8")]
    pairs = len(head) // 2
    for codec, name, zeros in (("utf-16-le", "UTF-16LE", head[1::2]), ("utf-16-be", "UTF-16BE", head[::2])):
        if pairs >= 4 and zeros.count(0) > 0.8 * pairs:
            return [(codec, name, f"convert it: iconv -f {name} -t UTF-8")]
    return []


def _known(text: str) -> str | None:
    """Return which format would read a text, None where none would."""
    form = recognise(text.encode())
    return f"`{form.name}`" if form else None


def _looks(text: str) -> str:
    """Return what a text looks like, and what would help."""
    if known := _known(text):
        return known
    for found in _TEXTS:
        if found.mark.search(text):
            return f"{found.looks}: {found.way_out}"
    lines = [line for line in text.split("\n") if line.strip()]
    if not lines:
        return f"blank lines alone: {_ANYTHING_ELSE}"
    if len(lines) <= 20 and (message := next((line for line in lines if _MESSAGE.search(line)), None)):
        return f"a message and not data, `{_shown(message)}`: see what it says, and export again"
    between = separator(lines[0])
    try:
        cells = [cell.strip() for cell in split(lines[0][:32_768].rstrip("\r"), between)]
    except csv.Error:
        cells = []
    if len(cells) > 1:
        return _table(cells)
    return f"text that begins with `{_shown(lines[0])}`: {_ANYTHING_ELSE}"


def _table(cells: Sequence[str]) -> str:
    """Return what a table looks like that begins with a line of these cells."""
    if all(not cell.strip("+-0123456789.,: ") for cell in cells):
        return f"rows of {len(cells)} columns without the names of the columns: {_NAMES}"
    names = {cell.upper() for cell in cells}
    if (near := _ibmi(names)) is not None:
        return near
    name, needed = max(_CSVS.items(), key=lambda one: len(names & {column.upper() for column in one[1]}) / len(one[1]))
    missing = [column for column in needed if column.upper() not in names]
    if 2 * len(missing) <= len(needed):
        return f"a table like {name}, without {', '.join(missing)}: its first line names {','.join(needed)}"
    shown = ", ".join(cells[:6]) + (", …" if len(cells) > 6 else "")
    return f"a table with the columns {_shown(shown)}, which are of no format: {_ANYTHING_ELSE}"


def _ibmi(names: set[str]) -> str | None:
    """Return what a table of IBM i lacks whose columns or labels are named; None where it is none."""
    by_name, by_label = {}, {}
    for table in tables().values():
        by_name[table.table] = len(names & table.names.keys())
        by_label[table.table] = len(names & {field.text.upper() for field in table.fields.values() if field.text})
    near = max(by_name, key=lambda table: by_name[table])
    if by_name[near] >= 2:
        table = tables()[near]
        known = {table.names.get(name, name) for name in names}
        missing = [column for column in table.recognised_by if column not in known]
        what = f"without {', '.join(missing)}" if missing else f"without {', '.join(table.time) or 'SAMPLE_TIME'}"
        return f"{by_name[near]} columns of {near} of IBM i, {what}: export all columns, with column names"
    near = max(by_label, key=lambda table: by_label[table])
    labels = {"INTERVAL NUMBER", "DATE-TIME", "DATE AND TIME", "ELAPSED TIME", "ELAPSED SECONDS", "INTERVAL SECONDS"}
    if by_label[near] >= 2 or (names & labels and by_label[near]):
        return f"Collection Services member {near} with labels as headings: {_NAMES}"
    if len(names & labels) >= 2 or "INTERVAL NUMBER" in names or names & set(TIME_FIELDS):
        return f"a member of Collection Services with labels as headings: {_NAMES}"
    return None


def _shown(text: str) -> str:
    text = "".join(c if c.isprintable() else "·" for c in text.strip())
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
