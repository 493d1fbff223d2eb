"""Converts rows of a table into tables of datasets: the engine behind files and SQL alike."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import compress
from operator import attrgetter, itemgetter
from typing import Any

from counterflow.collectors.formats.ibmi_tables.collection import COLLECTION, read_collection
from counterflow.collectors.formats.ibmi_tables.description import description, tables
from counterflow.collectors.formats.ibmi_tables.expression import Column
from counterflow.collectors.formats.ibmi_tables.for_update import FOR_UPDATE, counting_updates, why_unknown
from counterflow.collectors.formats.ibmi_tables.intervals import Interval, Intervals, SampleRows
from counterflow.collectors.formats.ibmi_tables.known import Known
from counterflow.collectors.formats.ibmi_tables.layout import COUNTER, Layout, Row, layout
from counterflow.collectors.formats.ibmi_tables.leftovers import Settings, Unknown, counters, undescribed
from counterflow.collectors.formats.ibmi_tables.running import RunningCounts
from counterflow.collectors.formats.ibmi_tables.times import Stamp
from counterflow.collectors.formats.ibmi_tables.values import SOURCE, Conversion, system
from counterflow.collectors.records import Context, Fields, Reason, Record, Reject, Table, Unusable
from counterflow.collectors.text.lines import Line
from counterflow.collectors.text.numbers import number_of
from counterflow.collectors.text.stamps import AMBIGUOUS, iso

_SHOWN = 20
_MOST_ROWS = 2_000
"""Rows that are converted together: more would take too much memory."""

Items = list[Record | Table | Reject]


def read_rows(
    table: str,
    columns: Sequence[str],
    rows: Iterable[Sequence[object]],
    context: Context,
    state: dict[str, Any],
    sampled_at: datetime | None = None,
) -> Iterator[Record | Table | Reject]:
    """Yield the content of the rows of `table`; columns are matched by name, values may be text or of any Python type.

    `state` is JSON; it keeps what the next call needs: the preceding sample of running counts, names and boundaries
    from QAPMJOBWTD and QAPMCONF, the configuration sent last. `sampled_at` is the time of rows that carry none.
    The rows of an interval stand together, and the last interval is whole: a `manifest` is written for each.
    """
    try:
        if table in COLLECTION:
            yield from read_collection(table, columns, rows, context, state, sampled_at)
            return
        reader = Reader(table, columns, context, state, sampled_at)
    except Unusable as error:
        yield Reject(error.reason, str(error), "none", section=table, system=context.system)
        return
    for row in rows:
        if reader.begins(row):
            yield from reader.end()
        yield from reader.row(row)
    yield from reader.end()


@dataclass
class _Batch:
    """Rows of one interval that wait to be converted together.

    `seconds` are the lengths of time that they state, None for one that is not above 0. `lines` are those of the rows,
    `refused` the fields that could not be read, by the number of the row in the batch.
    """

    interval: Interval
    rows: list[Row] = field(default_factory=list)
    seconds: list[float | None] = field(default_factory=list)
    lines: list[Line | None] = field(default_factory=list)
    refused: dict[int, Mapping[Reason, list[str]]] = field(default_factory=dict)

    def alike(self, rows: Sequence[int]) -> Iterable[tuple[float | None, list[int]]]:
        """Return the positions in `rows`, numbers of rows of the batch, by the length of time that the rows state."""
        found: dict[float | None, list[int]] = {}
        for at, row in enumerate(rows):
            found.setdefault(self.seconds[row], []).append(at)
        return found.items()


class Reader:
    """Turns rows into tables, interval by interval; call `begins` before `row`, and `end` when it returns true.

    Rows wait until many can be converted together.
    Datasets with running counts, whose rows may differ in their length of time, and `config` become records.
    """

    def __init__(
        self,
        table: str,
        columns: Sequence[str],
        context: Context,
        state: dict[str, Any],
        sampled_at: datetime | None = None,
    ) -> None:
        """Bind the table to its columns.

        Raises
        ------
        Unusable : the table is unknown, lacks a column that names its instances, or nothing names the system.
        """
        if description(table) is None:
            raise Unusable(Reason.BAD_HEADER, f"expected one of the tables {', '.join(tables())}, found {table}")
        self._system = system(context)
        found = counting_updates(table, columns)
        named = {**({FOR_UPDATE: found[0]} if len(found) == 1 else {}), **dict(context.columns)}
        self.layout: Layout = layout(table, tuple(columns), tuple(sorted(named.items())))
        self._without = why_unknown(self.layout, named.get(FOR_UPDATE), found)
        self._introspected = not self.layout.table.fields
        self._state = state
        self._known = Known(state)
        self.conversion = Conversion(self.layout)
        self.intervals = Intervals(self.layout, context, state, sampled_at)
        self._running = RunningCounts(self.layout.table, state, self._reject)
        self._settings = Settings(table, state)
        self._sample = SampleRows(self.layout)
        self._interval: Interval | None = None
        self._last: tuple[Any, ...] | None = None  # the time columns of the interval's rows, as written
        self._held: list[tuple[Row, Line | None, bool]] = []  # their instant is known once all of the interval are read
        self._held_number: str | None = None
        self._batch: _Batch | None = None
        self._at: Line | None = None

    # intervals

    def begins(self, row: Row) -> bool:
        """Return whether `row` belongs to another interval than the rows before it."""
        if (self._interval is None and not self._held) or len(row) != len(self.layout.columns):
            return False
        if self.layout.time(row) == self._last:
            return self._sample.has_another(row)
        number, found, ended = self.intervals.place(row)
        if found is None:
            return False
        if self._interval is None:
            return self._last is not None or number != self._held_number
        if ended:  # it carries the time at which the job ended
            return number != self._interval.number
        return number != self._interval.number or found.instant != self._interval.instant

    def end(self) -> Items:
        """Return the remaining items of the interval, which is now complete, and its row counts."""
        items: Items = self._open_held() if self._held else []
        interval = self._interval
        if interval is None:
            return items
        items += self.flush()
        if (paths := interval.paths.found) and not self._state.get("paths"):
            self._state["paths"] = True
            items.append(self._reject(Reason.DUPLICATE_ROW, paths, "all"))
        overlaps = self._running.overlaps(interval, interval.seconds)
        envelope = self._envelope(interval, interval.since_s if overlaps else interval.seconds)
        envelope["source"] = f"{SOURCE}.{self.layout.table.table}"
        for dataset, count in interval.counts.items():
            items.append(Record("manifest", {**envelope, "counted": dataset, "row_count": count}))
        self.intervals.close(interval, self._sample.digest)
        self._running.forget(interval)
        self._settings.forget(interval.seen)
        self._sample.clear()
        self._interval = self._last = None
        return items

    def row(self, row: Row, line: Line | None = None, *, typed: bool = False) -> Items:
        """Take one row, of a `line` where it is of a file; return items that do not wait for the end of the interval.

        `typed` means that its numbers are converted already, as `Layout.typed` does.
        """
        self._at = line
        if len(row) != len(self.layout.columns):
            detail = f"expected {len(self.layout.columns)} values, found {len(row)}"
            return self._refused_row(Reason.FIELD_COUNT, detail)
        if self._interval is not None and self.layout.time(row) == self._last:
            return self._add(self._interval, row, typed)
        try:
            number, found, ended = self.intervals.place(row, strict=True)
        except (ValueError, OverflowError) as error:
            return self._refused_row(Reason.STAMP_INVALID, str(error))
        if found is None:
            detail = "expected UTCTIME, DATETIME, DTETIM or SAMPLE_TIME, found no time in the row"
            if not self.layout.time_names:
                detail += ": select CURRENT_TIMESTAMP AS TS beside the columns, or --at gives the time of all rows"
            return self._refused_row(Reason.STAMP_MISSING, detail)
        items: Items = []
        interval = self._interval
        if interval is None:
            if self._sample.of_view and self.intervals.was_read(found.instant):
                self._held.append((row, line, typed))
                self._sample.add(row)
                self._last = self.layout.time(row)
                return items
            if self.intervals.is_late(number, found, ended=ended):
                detail = "the interval was taken as whole before: at another heading, or when the file had not grown"
                return self._refused_row(Reason.LATE_ROW, detail)
            if ended:
                self._held.append((row, line, typed))
                self._held_number = number
                return items
            interval, items = self._open(number, found)
            self._at = line
        if not ended:
            self._last = self.layout.time(row)
        return items + self._add(interval, row, typed)

    def _open_held(self) -> Items:
        """Open the interval of the rows that wait for its instant.

        Of rows of a view, a sample before states their time: all of them are that sample again, or another one.
        """
        stamps = [found for row, *_ in self._held if (found := self.intervals.place(row)[1])]
        last = max(stamps, key=attrgetter("instant"))
        if self._last is None:
            return self._open(self._held_number, Stamp(last.instant))[1]
        instant = self.intervals.apart(self._sample.digest, last.instant)
        _, self._at, _ = self._held[0]
        if not self.intervals.was_read(instant):
            interval, items = self._open(None, last._replace(instant=instant), last.instant)
            if interval.since_s > 0:
                detail = "two samples state one time: this one is placed behind the other"
                items.append(self._reject(Reason.INFERRED, detail, "all"))
            return items
        detail = f"the sample of {iso(instant)} was read before, its rows ({len(self._held)}) are left out"
        self._held, self._last = [], None
        self.intervals.place_anew()
        self._sample.clear()
        return [self._reject(Reason.DUPLICATE_ROW, detail, "none")]

    def _open(self, number: str | None, found: Stamp, stated: datetime | None = None) -> tuple[Interval, Items]:
        """Open an interval; return it with the items of the rows that waited for its instant."""
        items: Items = []
        interval = self._interval = self.intervals.open(number, found, stated)
        if interval.since_s < 0:
            detail = f"the interval before is of {self.intervals.before}: members are mixed, or the clock went back"
            items.append(self._reject(Reason.CLOCK_CHANGE, detail, "all"))
        if found.ambiguous:
            items.append(self._reject(Reason.CLOCK_CHANGE, AMBIGUOUS, "all"))
        noted: list[str] = self._state.setdefault("without", []) if self._without else []
        if self._without and self.layout.table.table not in noted:
            noted.append(self.layout.table.table)
            items.append(self._reject(Reason.COLUMN_MISSING, self._without, "all"))
        held, self._held, self._held_number = self._held, [], None
        for row, self._at, typed in held:
            items += self._add(interval, row, typed)
        return interval, items

    def _envelope(self, interval: Interval, seconds: float | None) -> Fields:
        """Return the fields that every row of the interval with this length carries."""
        envelope: Fields = {"ts": interval.ts, "system": self._system, "source": SOURCE}
        if seconds is not None:
            envelope["interval_s"] = seconds
        return envelope

    # rows

    def _refused_row(self, reason: Reason, detail: str) -> Items:
        """Return the items of the rows before, and the reject of this one."""
        return [*self.flush(), self._reject(reason, detail, "none")]

    def _add(self, interval: Interval, row: Row, typed: bool) -> Items:
        """Let a row wait; return the items of those that waited long enough."""
        layout = self.layout
        seconds = row[layout.seconds] if layout.seconds is not None else interval.seconds
        items: Items = []
        written = seconds
        if type(seconds) is not float:
            seconds = _seconds(seconds)
        if (seconds is None or seconds < 0) and str(written or "").strip() and "INTSEC" not in interval.refused:
            interval.refused.add("INTSEC")
            detail = f"expected the length of the interval in seconds, found {str(written).strip():.40}"
            items.append(self._reject(Reason.NOT_A_NUMBER, detail, "part"))
        if seconds is not None and seconds > 0:
            interval.seconds = max(interval.seconds or 0.0, seconds)
        else:
            seconds = None
        batch = self._batch
        if batch is None or len(batch.rows) == _MOST_ROWS:
            items += self.flush()
            batch = self._batch = _Batch(interval)
        self._sample.add(row)
        if not typed:
            row, refused = self.conversion.of(row)
            if refused:
                batch.refused[len(batch.rows)] = refused
        batch.rows.append(row)
        batch.seconds.append(seconds)
        batch.lines.append(self._at)
        return items

    def flush(self) -> Items:
        """Convert the rows that wait, and return their items: records and rejects in the order of the rows, tables."""
        batch, self._batch = self._batch, None
        if batch is None:
            return []
        found: list[tuple[int, Record | Reject]] = []
        tables: list[Table] = []
        line = self._at
        layout, interval = self.layout, batch.interval
        columns = layout.of(batch.rows, batch.seconds, self._known)
        instances, unknown = self._identified(batch, columns.of(layout.instance), found)
        if len(batch.rows) < columns.rows:
            columns = layout.of(batch.rows, batch.seconds, self._known)
        for dataset, filling in layout.filled.items():
            rows, values = filling.of(columns)
            rows, values = _only(self._complete(batch, dataset, rows, values, found), rows, values)
            if dataset == "disk":
                values = interval.paths.counted_once(values)
            if dataset in self._running.datasets:
                for at, *each in zip(rows, *values.values(), strict=True):
                    self._at = batch.lines[at]
                    known = {name: value for name, value in zip(values, each, strict=True) if value is not None}
                    record = Record(dataset, {**self._envelope(interval, batch.seconds[at]), **known})
                    rejects = self._running.complete(interval, instances[at], dataset, record.fields)
                    found += ((at, reject) for reject in rejects)
                    found.append((at, record))
            else:
                if self._running.since_baseline[dataset]:
                    rows, values = _only(self._reset(batch, dataset, rows, found), rows, values)
                for seconds, alike in batch.alike(rows):
                    shared = self._envelope(interval, seconds)
                    tables.append(Table(dataset, shared, {n: [v[at] for at in alike] for n, v in values.items()}))
            if rows:
                interval.counts[dataset] += len(rows)
        for seconds, alike in batch.alike(range(len(batch.rows))):
            leftover = [(batch.rows[at], instances[at], unknown[at]) for at in alike]
            if figures := counters(layout, leftover):
                interval.counts["counter"] += len(figures) // len(COUNTER)
                by_column = {name: figures[at :: len(COUNTER)] for at, name in enumerate(COUNTER)}
                tables.append(Table("counter", self._envelope(interval, seconds), by_column))
        if layout.table.texts and not self._introspected:
            envelope = self._envelope(interval, None)
            for at, (row, (_, strange)) in enumerate(zip(batch.rows, unknown, strict=True)):
                settings = [(name, row[place].strip()) for place, name in layout.settings]
                records = self._settings.changed(envelope, instances[at], [*settings, *strange])
                found += ((at, record) for record in records)
        self._at = line
        found.sort(key=itemgetter(0))
        return [*(item for _, item in found), *tables]

    def _reset(
        self, batch: _Batch, dataset: str, rows: Sequence[int], found: list[tuple[int, Record | Reject]]
    ) -> list[bool]:
        """Return of each row whether its baseline was reset after the sample before; a reject goes to `found`."""
        interval = batch.interval
        kept = [not self._running.overlaps(interval, batch.seconds[at]) for at in rows]
        if not all(kept):
            at = rows[kept.index(False)]
            self._at, seconds = batch.lines[at], batch.seconds[at]
            rejects = self._running.not_reset(interval, dataset, f"no {dataset}", seconds, interval.since_s)
            found += ((at, reject) for reject in rejects)
        return kept

    def _identified(
        self, batch: _Batch, named: Sequence[str | None], found: list[tuple[int, Record | Reject]]
    ) -> tuple[list[str], list[Unknown]]:
        """Return the instance of each row and what is not described of it; remove rows without one from the batch.

        The rejects go to `found`.
        """
        layout, seen = self.layout, batch.interval.seen
        instances: list[str] = []
        unknown = []
        rows, seconds, lines = batch.rows, batch.seconds, batch.lines
        batch.rows, batch.seconds, batch.lines = [], [], []
        for at, row in enumerate(rows):
            instance = named[at]
            numbers, texts = undescribed(layout, row) if layout.unknown else ((), ())
            if self._introspected:
                instance = " ".join(value for _, value in texts)
                if instance in seen:  # no description identifies its rows
                    instance = f"{instance}#{len(seen) + 1}"
            self._at, kept = lines[at], len(batch.rows)
            if instance is None:
                detail = f"expected {layout.table.instance} to name the row"
                found.append((kept, self._reject(Reason.OUT_OF_RANGE, detail, "none")))
                continue
            if instance in seen:
                detail = f"the interval has a row of {instance!r} already"
                found.append((kept, self._reject(Reason.DUPLICATE_ROW, detail, "none")))
                continue
            for reason, names in batch.refused.get(at, {}).items():
                detail = f"{len(names)} fields of {instance!r}: {'; '.join(names[:_SHOWN])}"
                found.append((kept, self._reject(reason, detail, "part")))
            seen.add(instance)
            instances.append(instance)
            unknown.append((numbers, texts))
            batch.rows.append(row)
            batch.seconds.append(seconds[at])
            batch.lines.append(lines[at])
        return instances, unknown

    def _complete(
        self,
        batch: _Batch,
        dataset: str,
        rows: Sequence[int],
        columns: dict[str, Column],
        found: list[tuple[int, Record | Reject]],
    ) -> list[bool]:
        """Return of each row whether it has what every row of the dataset needs; the rejects go to `found`."""
        required = self.layout.filled[dataset].required
        if not any(None in columns[name] for name in required):
            return [True] * len(rows)
        whole = []
        for at, *needed in zip(rows, *(columns[name] for name in required), strict=True):
            missing = [name for name, value in zip(required, needed, strict=True) if value is None]
            whole.append(not missing)
            if missing:
                self._at = batch.lines[at]
                detail = f"expected {', '.join(missing)} of {dataset}"
                found.append((at, self._reject(Reason.OUT_OF_RANGE, detail, "part")))
        return whole

    def _reject(self, reason: Reason, detail: str, kept: Any) -> Reject:
        ts = self._interval.ts if self._interval else None
        reject = Reject(reason, detail, kept, section=self.layout.table.table, system=self._system, ts=ts)
        return reject if self._at is None else of_line(reject, self._at)


def of_line(reject: Reject, line: Line) -> Reject:
    """Return the reject with the place of a line, and its bytes unless all of it is kept."""
    reject.line, reject.byte_offset = line.number, line.offset
    if reject.kept != "all":
        reject.raw = line.raw
    return reject


def _only(
    kept: Sequence[bool], rows: Sequence[int], columns: dict[str, Column]
) -> tuple[Sequence[int], dict[str, Column]]:
    """Return the rows that are kept, and their columns."""
    if all(kept):
        return rows, columns
    return [*compress(rows, kept)], {name: [*compress(values, kept)] for name, values in columns.items()}


def _seconds(written: object) -> float | None:
    """Return INTSEC as a number, None where it is not one."""
    try:
        return number_of(written)
    except ValueError:
        return None
