"""Exports of the monitor tables of Q Replication as CSV.

One row per queue, or Capture program, and monitor interval. Tables and releases differ in their columns, which are read
by name; figures that no dataset holds go to `counter`. Source: IBM, IBMQREP_APPLYMON table; IBM's scripts that make and
migrate the control tables.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any, BinaryIO, NamedTuple

from counterflow.collectors.records import Context, Fields, Item, Position, Reason, Record, Reject, Unusable
from counterflow.collectors.text.csv_rows import CsvRow, CsvRows, first_lines, is_csv_of, read_items
from counterflow.collectors.text.dates import inferred, instant, only_order
from counterflow.collectors.text.keys import is_new
from counterflow.collectors.text.numbers import number_within
from counterflow.collectors.text.periods import missing_between, remembered
from counterflow.collectors.text.stamps import AMBIGUOUS, iso
from counterflow.schemas.definition import datasets
from counterflow.schemas.mapping import fills

SOURCE = "qrep_monitor"


class Table(NamedTuple):
    """A monitor table and its queue column; `filled` are the dataset's columns by its own."""

    name: str
    component: str
    queue: str | None
    schema: str
    filled: Mapping[str, str]


_TIMES = {name for name, column in datasets()["replication"].columns.items() if column.type.startswith("DateTime")}


def _table_of(name: str, component: str, queue: str | None, schema: str) -> Table:
    by_column = {fill.counter: fill.column for fill in fills(SOURCE, "replication")}
    own = {column.removeprefix(f"{name} ").lower(): to for column, to in by_column.items() if column.startswith(name)}
    return Table(name, component, queue, schema, own)


TABLES = (
    _table_of("IBMQREP_APPLYMON", "apply", "recvq", "apply_schema"),
    _table_of("IBMQREP_CAPQMON", "capture_queue", "sendq", "capture_schema"),
    _table_of("IBMQREP_CAPMON", "capture", None, "capture_schema"),
)
TIME = "monitor_time"
"""The first column of each table."""
WAY_OUT = (
    "the names of the columns in a first line, MONITOR_TIME with RECVQ, SENDQ or CURRENT_LOG_TIME; or their numbers in "
    '`columns` of the source, as in `queue: "2"`, where MONITOR_TIME is the first'
)

_LATENCIES = ("end_to_end_ms", "queue_ms", "apply_ms")
_NEVER = re.compile(r"(?:1900|0001)-01-01|0?1([./])0?1\1(?:1900|0001)\b")
_LOG_POSITION = re.compile(r"(seq|lsn)$")
_DEL = re.compile(r'"?\d{4}-\d\d-\d\d-\d\d\.\d\d\.\d\d(\.\d+)?"?[,;\t]"?(\d{4}-\d\d-\d\d-\d\d\.|[A-Za-z])')


def recognises(head: bytes) -> bool:
    """Return whether `head` begins with the columns of a monitor table, or with a row as Db2's EXPORT writes it."""
    return is_csv_of(head, _is_header) or _DEL.match(first_lines(head)[0]) is not None


def parse(stream: BinaryIO, context: Context, position: Position | None = None) -> Iterator[Item]:
    """Yield a record per row, and a counter for each number that the dataset does not hold."""
    unnamed = partial(_unnamed, context.columns)
    rows = CsvRows(stream, context, position, _is_header, WAY_OUT, unnamed=unnamed)
    if context.complete and context.date_order is None and "order" not in rows.memory:
        every = CsvRows(stream, context, position, _is_header, WAY_OUT, unnamed=unnamed).items()
        order = only_order(row.values[TIME] for row in every if isinstance(row, CsvRow) and row.values[TIME])
        if order is not None:
            rows.memory["order"] = order
            yield replace(inferred(order), system=context.system)
    context = replace(context, date_order=context.date_order or rows.memory.get("order"))
    yield from read_items(rows, lambda values: _Row(values, context, rows).items())


class _Row:
    """One row, and its conversion to records."""

    def __init__(self, values: dict[str, str], context: Context, rows: CsvRows) -> None:
        found = _table(values)
        assert found is not None  # noqa: S101 - its header was recognised
        self._table = found
        self._context = context
        self._rows, self._memory = rows, rows.memory
        named = {column.strip().lower(): name for name, column in context.columns.items()}
        self._filled = {**found.filled, **{c: n for c, n in named.items() if n in found.filled.values()}}
        self._values = {name: value for name, value in values.items() if value}

    def items(self) -> Iterator[Record | Reject]:
        table, values = self._table, self._values
        queue = values.get(table.queue, "") if table.queue else ""
        if table.queue and not queue:
            yield Reject(Reason.OUT_OF_RANGE, f"expected {table.queue.upper()}, found nothing", "none")
            return
        if TIME not in values:
            yield Reject(Reason.STAMP_MISSING, "expected MONITOR_TIME, found nothing", "none")
            return
        known: dict[str, Any] = self._memory.setdefault("before", {})
        key = " ".join((table.component, values.get(table.schema, ""), queue))
        before = datetime.fromisoformat(known[key]["ts"]) if key in known else None
        try:
            instant, ambiguous = _instant(values[TIME], self._context, before)
        except (ValueError, OverflowError) as error:
            yield Reject(Reason.STAMP_INVALID, f"MONITOR_TIME: {error}", "none")
            return
        if not is_new(self._memory.setdefault("times", {}), key, iso(instant)):
            yield Reject(Reason.DUPLICATE_ROW, f"there is a row of {iso(instant)} already", "none")
            return
        if ambiguous:
            yield Reject(Reason.CLOCK_CHANGE, AMBIGUOUS, "all")
        fields: Fields = {"ts": iso(instant), "system": self._context.system, "source": SOURCE}
        fields |= {"component": table.component, "queue": queue}
        fields["program_schema"] = values.get(table.schema, "")
        yield from self._fill(fields, instant)
        if before is None:
            known[key] = {"ts": fields["ts"], "apart_s": []}
        elif instant < before:
            detail = f"the row before is of {iso(before)}: sort by MONITOR_TIME, no length of an interval is known"
            yield Reject(Reason.LATE_ROW, detail, "all")
        else:
            yield from self._interval(fields, (instant - before).total_seconds(), known[key])
        yield Record("replication", fields)
        yield from self._leftovers(fields)

    def _interval(self, fields: Fields, apart_s: float, before: dict[str, Any]) -> Iterator[Reject]:
        """Add the length of the interval: the time since the preceding row, if no row is missing in between."""
        apart_s = round(apart_s, 3)
        missing = missing_between(apart_s, before["apart_s"])
        if datetime.fromisoformat(fields.get("started_at", before["ts"])) > datetime.fromisoformat(before["ts"]):
            detail = f"the queue was started at {fields['started_at']}: the time since the row before is no interval"
            yield Reject(Reason.RESTARTED, detail, "all")
        elif missing is not None:
            yield Reject(Reason.SAMPLE_MISSING, missing, "all")
        else:
            fields["interval_s"] = apart_s
        before |= {"ts": fields["ts"], "apart_s": remembered(apart_s, before["apart_s"])}

    def _fill(self, fields: Fields, instant: datetime) -> Iterator[Reject]:
        for column, name in self._filled.items():
            written = self._values.get(column)
            if name in _TIMES and (written is None or _NEVER.match(written)):
                continue
            try:
                if name in _TIMES:
                    fields[name] = iso(_earlier(str(written), self._context, instant))
                    continue
                number = self._number(written)
            except (ValueError, OverflowError) as error:
                reason = error.reason if isinstance(error, Unusable) else Reason.STAMP_INVALID
                yield Reject(reason, f"{column.upper()}: {error}", "part")
                continue
            if number is not None:
                fields[name] = number
        applied = fields.get("transactions_applied", fields.get("rows_applied"))
        for name in _LATENCIES if applied == 0 else ():
            if fields.pop(name, 0):
                yield Reject(Reason.OUT_OF_RANGE, f"{name} is of no transaction: nothing was applied", "part")

    def _number(self, value: str | None) -> float | None:
        """Return a number: the monitor tables have integers alone."""
        return number_within(value, lambda: self._rows.points_group, whole=True)

    def _leftovers(self, fields: Fields) -> Iterator[Record | Reject]:
        """Yield the numbers that the dataset does not hold; a column with other values is noted once."""
        table = self._table
        noted: list[str] = self._memory.setdefault("noted", [])
        read = {TIME, table.queue, table.schema, *self._filled}
        envelope: Fields = {name: fields[name] for name in ("ts", "interval_s", "system", "source") if name in fields}
        for column, value in self._values.items():
            if column in read:
                continue
            try:
                number = None if _LOG_POSITION.search(column) else self._number(value)
            except ValueError:
                number = None
            if number is None:
                if column not in noted:
                    noted.append(column)
                    detail = f"{column.upper()} is not read where it holds no figure, as {value[:40]!r}"
                    yield Reject(Reason.NOT_A_NUMBER, detail, "part")
                continue
            counter = {"section": table.name, "instance": fields["queue"], "counter": column.upper(), "value": number}
            yield Record("counter", {**envelope, **counter})


def _is_header(names: Collection[str]) -> bool:
    return _table(names) is not None


def _table(names: Collection[str]) -> Table | None:
    if TIME not in names:
        return None
    for table in TABLES:
        if table.queue in names or (table.queue is None and not table.filled.keys().isdisjoint(names)):
            return table
    return None


def _unnamed(columns: Mapping[str, str], cells: list[str]) -> list[str] | None:
    """Return the columns of rows without a header, if the columns that the site numbers fit exactly one table."""
    places = {name: int(place) - 1 for name, place in columns.items() if place.isdecimal()}
    if not places or not all(0 < place < len(cells) for place in places.values()):
        return None
    fitting = []
    for table in TABLES:
        by_name = {name: column for column, name in table.filled.items()}
        by_name |= {"program_schema": table.schema} | ({"queue": table.queue} if table.queue else {})
        if places.keys() <= by_name.keys() and ("queue" in places) == (table.queue is not None):
            found = [TIME, *(f"column_{place + 1}" for place in range(1, len(cells)))]
            for name, place in places.items():
                found[place] = by_name[name]
            fitting.append(found)
    return fitting[0] if len(fitting) == 1 else None


def _instant(written: str, context: Context, after: datetime | None) -> tuple[datetime, bool]:
    """Return a time, and whether a repeated hour leaves it ambiguous; `after` is the time of the preceding row.

    Raises
    ------
    ValueError : the text is not a time.
    """
    return instant(written, context.zone, after, context.date_order)


def _earlier(written: str, context: Context, latest: datetime) -> datetime:
    """Return a time that lies before `latest`: of the two instants of a repeated hour, the nearer one.

    Raises
    ------
    ValueError : the text is not a time.
    """
    first, ambiguous = _instant(written, context, None)
    second = _instant(written, context, first)[0] if ambiguous else first
    return second if second <= latest else first
