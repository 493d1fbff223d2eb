"""Log statistics of Db2 for z/OS as CSV: the counters of SMF 100 IFCID 1 and 369 under their names, a row per sample.

Columns are matched by name, in any order. Names in lower case are ours, where IBM's name is not public; see
README.md.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from datetime import UTC
from typing import BinaryIO

from counterflow.collectors.records import Context, Fields, Item, Position, Reason, Record, Reject, Unusable
from counterflow.collectors.text.csv_rows import CsvRows, is_csv_of, read_items
from counterflow.collectors.text.dates import instant
from counterflow.collectors.text.numbers import number_within
from counterflow.collectors.text.running_counts import beside
from counterflow.collectors.text.settings import changes
from counterflow.collectors.text.stamps import iso
from counterflow.schemas.definition import datasets
from counterflow.schemas.mapping import fills

SOURCE = "db2_log_csv"

TIME, SYSTEM, SUBSYSTEM = "time_utc", "sysid", "ssid"
_FILLED = datasets()["db_log"].columns
COUNTS = {fill.counter: fill.column for fill in fills(SOURCE, "db_log") if _FILLED[fill.column].kind == "cumulative"}
"""The running counts, by the names of the file."""
GAUGES = ("copies", "active_threads", "zhl_sync_pct")
TEXTS = ("member", "log_path")
PATHS = ("zhpf", "zhl")
_KNOWN = frozenset((TIME, SYSTEM, SUBSYSTEM, *COUNTS, *GAUGES, *TEXTS))
_CUMULATIVE = ("QJSTWRW", "QJSTWRNW", "QJSTWRF", "QJSTLSUS")
"""Further running counts of the same IFCID, which no dataset models."""
_NOT_SHOWN = ("N/A", "N/C", "N/P")
_WRITTEN = {name.lower(): name for name in _KNOWN}
"""The known columns, which a header may write in any letter case."""
WAY_OUT = f"a header with {TIME}, {SYSTEM}, {SUBSYSTEM} and counters such as QJSTCIWR before the rows"


def recognises(head: bytes) -> bool:
    return is_csv_of(head, _is_header)


def parse(stream: BinaryIO, context: Context, position: Position | None = None) -> Iterator[Item]:
    """Yield a record per row, with running counts beside those of the same member's preceding row."""
    rows = CsvRows(stream, context, position, _is_header, WAY_OUT, named=_named, names_system=True, counts=True)
    yield from read_items(rows, lambda values: _row(values, rows))


def _named(written: str) -> str:
    return _WRITTEN.get(written.lower(), written)


def _is_header(names: Collection[str]) -> bool:
    found = set(map(_named, names))
    return {TIME, SYSTEM, SUBSYSTEM} <= found and not found.isdisjoint(COUNTS) and len(found) == len(names)


def _row(values: dict[str, str], rows: CsvRows) -> Iterator[Record | Reject]:
    cells = {name: "" if value in _NOT_SHOWN else value for name, value in values.items()}
    system, subsystem = rows.context.system or cells[SYSTEM], cells[SUBSYSTEM]
    if not system or not subsystem:
        yield Reject(Reason.BAD_HEADER, f"expected {SYSTEM} and {SUBSYSTEM}, found {system!r}, {subsystem!r}", "none")
        return
    try:
        now = instant(cells[TIME], UTC)[0]
    except ValueError:
        reason = Reason.STAMP_INVALID if cells[TIME] else Reason.STAMP_MISSING
        detail = f"expected {TIME} as 2025-11-21T01:00:00Z, found `{cells[TIME]:.40}`"
        yield Reject(reason, detail, "none", system=system)
        return
    ts = iso(now)
    numbers: dict[str, float] = {}
    for name in (*COUNTS, *GAUGES):
        try:
            value = _number(cells.get(name, ""), name, rows)
        except Unusable as error:
            yield Reject(error.reason, f"{name}: {error}", "part", system=system, ts=ts)
            continue
        if value is not None:
            numbers[name] = value
    counts = {COUNTS[name]: value for name, value in numbers.items() if name in COUNTS}
    known, samples = f"{system} {subsystem}", rows.memory.setdefault("samples", {})
    try:
        found = beside(samples.get(known), now, counts)
    except Unusable as error:
        yield Reject(error.reason, f"{subsystem}: {error}", "none", system=system, ts=ts)
        return
    samples[known] = found.sample
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
    yield from _further(cells, subsystem, envelope, rows)
    counted = {"counted": "db_log", "row_count": 1}
    yield Record("manifest", {**envelope, "source": f"{SOURCE}.{subsystem}", **counted})


def _further(cells: Mapping[str, str], subsystem: str, envelope: Fields, rows: CsvRows) -> Iterator[Record | Reject]:
    """Yield the values that no column of db_log holds: numbers as counters, texts as settings where they changed."""
    texts = {}
    for name, cell in cells.items():
        if name in _KNOWN or not name or not cell:
            continue
        try:
            value = number_within(cell, lambda: rows.points_group, whole=name in _CUMULATIVE)
        except Unusable as error:
            if name in _CUMULATIVE:
                yield Reject(error.reason, f"{name}: {error}", "part", system=envelope["system"], ts=envelope["ts"])
            else:
                texts[name] = cell
            continue
        kind = {"kind": "cumulative"} if name in _CUMULATIVE else {}
        common = {**envelope, "section": SOURCE, "instance": subsystem}
        yield Record("counter", {**common, "counter": name, "value": value, **kind})
    published = rows.memory.setdefault("config", {}).setdefault(f"{envelope['system']} {subsystem}", {})
    yield from changes(published, texts, envelope, SOURCE, subsystem)


def _number(cell: str, name: str, rows: CsvRows) -> float | None:
    """Return the figure of a cell, None where it is missing.

    Raises
    ------
    Unusable : it is no number, or out of range.
    """
    whole = name in COUNTS and not name.endswith("_us")
    value = number_within(cell, lambda: rows.points_group, whole=whole)
    if value is None:
        return None
    if value < 0 or (name == "zhl_sync_pct" and value > 100) or (name == "copies" and value == 0):
        raise Unusable(Reason.OUT_OF_RANGE, f"`{cell:.40}`")
    return value
