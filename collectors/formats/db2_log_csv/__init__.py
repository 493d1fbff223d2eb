"""Log statistics of Db2 for z/OS as CSV: the counters of SMF 100 IFCID 1 and 369 under their names, a row per sample.

Columns are matched by name, in any order. Names in lower case are ours, where IBM's name is not public; see
README.md.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC
from typing import BinaryIO

from counterflow.collectors.records import Context, Fields, Item, Position, Reason, Record, Reject, Unusable
from counterflow.collectors.text.cells import is_empty, is_null, points_may_group
from counterflow.collectors.text.codepages import text
from counterflow.collectors.text.csv_rows import first_lines
from counterflow.collectors.text.lines import Line, read_items
from counterflow.collectors.text.numbers import number_within
from counterflow.collectors.text.running_counts import Sample, beside
from counterflow.collectors.text.settings import changes
from counterflow.collectors.text.stamps import iso, stated

SOURCE = "db2_log_csv"

TIME, SYSTEM, SUBSYSTEM = "time_utc", "sysid", "ssid"
COUNTS = {
    "QJSTCIWR": "ci_written",
    "QJSTBFFL": "ci_created",
    "QJSTLOGW": "write_ios",
    "QJSTBFWR": "write_calls",
    "QJSTWTB": "buffer_waits",
    "QJSTBPAG": "buffers_paged_in",
    "QJSTTHRW": "threshold_writes",
    "QJSTSERW": "serial_ci_written",
    "zhl_log_writes": "zhl_log_writes",
    "zhl_log_write_fail_sync": "zhl_log_write_fail_sync",
    "SWACAWLG_us": "log_write_wait_us",
    "SWACARLG": "log_write_waits",
}
"""The running counts, by the names of the file."""
GAUGES = ("copies", "active_threads", "zhl_sync_pct")
TEXTS = ("member", "log_path")
PATHS = ("zhpf", "zhl")
_KNOWN = frozenset((TIME, SYSTEM, SUBSYSTEM, *COUNTS, *GAUGES, *TEXTS))
_CUMULATIVE = ("QJSTWRW", "QJSTWRNW", "QJSTWRF", "QJSTLSUS")
"""Further running counts of the same IFCID, which no dataset models."""
_NOT_SHOWN = ("N/A", "N/C", "N/P")
_SEPARATORS = ",;\t"
_BLANK = b" \t\r\x00\x1a"


@dataclass
class LogCsvState:
    """State carried over from earlier rows: header, separator and each member's last sample. JSON values."""

    columns: list[str] = field(default_factory=list)
    separator: str = ","
    samples: dict[str, Sample] = field(default_factory=dict)
    config: dict[str, dict[str, str]] = field(default_factory=dict)


class Db2LogCsv:
    name = SOURCE

    def recognises(self, head: bytes) -> bool:
        return any(_header(line) is not None for line in first_lines(head))

    def parse(self, stream: BinaryIO, context: Context, position: Position | None = None) -> Iterator[Item]:
        """Yield a record per row, with running counts beside those of the same member's preceding row."""
        return read_items(stream, position, context, LogCsvState, _line)


def _line(line: Line, state: LogCsvState, context: Context) -> Iterator[Item]:
    written = text(line.data)
    if not line.data.strip(_BLANK):
        return
    if line.fault is Reason.LINE_TOO_LONG:
        yield Reject(line.fault, "the line is longer than any row", "none")
        return
    if (header := _header(written)) is not None:
        state.columns, state.separator = header
        return
    if not state.columns:
        if is_empty(written):
            return
        detail = f"expected a header with {TIME}, {SYSTEM}, {SUBSYSTEM} and counters such as QJSTCIWR before the rows"
        yield Reject(Reason.NO_HEADER, detail, "none")
        return
    cells = _cells(written, state.separator)
    if len(cells) != len(state.columns):
        reason = line.fault or Reason.FIELD_COUNT
        yield Reject(reason, f"{len(cells)} values for {len(state.columns)} columns", "none")
        return
    if line.fault is Reason.CUT_LINE:
        if state.columns[-1] in (TIME, SYSTEM, SUBSYSTEM):
            yield Reject(line.fault, f"the file ends within {state.columns[-1]}", "none")
            return
        cells[-1] = ""
        detail = f"the last line has no line end: {state.columns[-1]} may be cut and is left out"
        yield Reject(line.fault, detail, "part")
    yield from _row(dict(zip(state.columns, cells, strict=True)), state, context)


def _row(cells: Mapping[str, str], state: LogCsvState, context: Context) -> Iterator[Item]:
    system, subsystem = context.system or cells[SYSTEM], cells[SUBSYSTEM]
    if not system or not subsystem:
        yield Reject(Reason.BAD_HEADER, f"expected {SYSTEM} and {SUBSYSTEM}, found {system!r}, {subsystem!r}", "none")
        return
    now = stated(cells[TIME], UTC)
    if now is None:
        reason = Reason.STAMP_INVALID if cells[TIME] else Reason.STAMP_MISSING
        detail = f"expected {TIME} as 2025-11-21T01:00:00Z, found `{cells[TIME]:.40}`"
        yield Reject(reason, detail, "none", system=system)
        return
    ts = iso(now)
    numbers: dict[str, float] = {}
    for name in (*COUNTS, *GAUGES):
        try:
            value = _number(cells.get(name, ""), name, state.separator)
        except Unusable as error:
            yield Reject(error.reason, f"{name}: {error}", "part", system=system, ts=ts)
            continue
        if value is not None:
            numbers[name] = value
    counts = {COUNTS[name]: value for name, value in numbers.items() if name in COUNTS}
    known = f"{system} {subsystem}"
    try:
        found = beside(state.samples.get(known), now, counts)
    except Unusable as error:
        yield Reject(error.reason, f"{subsystem}: {error}", "none", system=system, ts=ts)
        return
    state.samples[known] = found.sample
    if found.reason is not None:
        yield Reject(found.reason, f"{subsystem}: {found.detail}", "all", system=system, ts=ts)
    texts = {name: cells[name] for name in TEXTS if cells.get(name)}
    if texts.get("log_path", PATHS[0]) not in PATHS:
        detail = f"log_path: expected {' or '.join(PATHS)}, found `{texts.pop('log_path'):.40}`"
        yield Reject(Reason.OUT_OF_RANGE, detail, "part", system=system, ts=ts)
    gauges = {name: numbers[name] for name in GAUGES if name in numbers}
    envelope: Fields = {"ts": ts, "system": system, "source": SOURCE}
    if "interval_s" in found.fields:
        envelope["interval_s"] = found.fields["interval_s"]
    yield Record("db_log", {**envelope, "subsystem": subsystem, **texts, **gauges, **counts, **found.fields})
    yield from _further(cells, subsystem, envelope, state)
    counted = {"counted": "db_log", "row_count": 1}
    yield Record("manifest", {**envelope, "source": f"{SOURCE}.{subsystem}", **counted})


def _further(cells: Mapping[str, str], subsystem: str, envelope: Fields, state: LogCsvState) -> Iterator[Record]:
    """Yield the values that no column of db_log holds: numbers as counters, texts as settings where they changed."""
    texts = {}
    for name, cell in cells.items():
        if name in _KNOWN or not name or not cell:
            continue
        try:
            value = float(cell)
        except ValueError:
            value = math.nan
        if math.isfinite(value):
            kind = {"kind": "cumulative"} if name in _CUMULATIVE else {}
            common = {**envelope, "section": SOURCE, "instance": subsystem}
            yield Record("counter", {**common, "counter": name, "value": value, **kind})
        else:
            texts[name] = cell
    published = state.config.setdefault(f"{envelope['system']} {subsystem}", {})
    yield from changes(published, texts, envelope, SOURCE, subsystem)


def _number(cell: str, name: str, between: str) -> float | None:
    """Return the figure of a cell, None where it is missing; `between` separates the cells.

    Raises
    ------
    Unusable : it is no number, or out of range.
    """
    whole = name in COUNTS and not name.endswith("_us")
    value = number_within(cell, lambda: None if points_may_group(between) else False, whole=whole)
    if value is None:
        return None
    if value < 0 or (name == "zhl_sync_pct" and value > 100) or (name == "copies" and value == 0):
        raise Unusable(Reason.OUT_OF_RANGE, f"`{cell:.40}`")
    return value


def _header(written: str) -> tuple[list[str], str] | None:
    """Return the columns that a header names, and their separator; None for any other line."""
    if TIME not in written.lower():
        return None
    separator = max(_SEPARATORS, key=written.count)
    canonical = {name.upper(): name for name in _KNOWN}
    found = [canonical.get(name.upper(), name) for name in _cells(written, separator)]
    if {TIME, SYSTEM, SUBSYSTEM} <= set(found) and set(COUNTS) & set(found) and len(set(found)) == len(found):
        return found, separator
    return None


def _cells(written: str, separator: str) -> list[str]:
    written = written.strip("\x00\x1a\r")
    try:
        cells = next(csv.reader([written], delimiter=separator), []) if '"' in written else written.split(separator)
        return ["" if is_null(cell) or cell.strip() in _NOT_SHOWN else cell.strip() for cell in cells]
    except csv.Error:
        return [written]


FORMAT = Db2LogCsv()
