"""Converts rows of a table into tables of datasets: the engine behind files and SQL alike."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import chain, compress
from operator import attrgetter
from typing import Any

from counterflow.collectors.formats.ibmi_tables.collection import COLLECTION, read_collection
from counterflow.collectors.formats.ibmi_tables.description import description, tables
from counterflow.collectors.formats.ibmi_tables.expression import Column, Columns
from counterflow.collectors.formats.ibmi_tables.for_update import FOR_UPDATE, counting_updates, why_unknown
from counterflow.collectors.formats.ibmi_tables.intervals import Intervals, OpenInterval, SampleRows
from counterflow.collectors.formats.ibmi_tables.known import Known
from counterflow.collectors.formats.ibmi_tables.layout import COUNTER, Layout, Row, layout
from counterflow.collectors.formats.ibmi_tables.leftovers import Settings, Unknown, counters, undescribed
from counterflow.collectors.formats.ibmi_tables.running import RunningCounts
from counterflow.collectors.formats.ibmi_tables.times import Stamp
from counterflow.collectors.formats.ibmi_tables.values import SOURCE, Conversion, system
from counterflow.collectors.records import Context, Fields, Reason, Record, Reject, Table, Unusable
from counterflow.collectors.text.lines import Line
from counterflow.collectors.text.stamps import AMBIGUOUS, iso

_SHOWN = 20
_NONE: Mapping[Reason, list[str]] = {}
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
        reader = RowReader(table, columns, context, state, sampled_at)
    except Unusable as error:
        yield Reject(error.reason, str(error), "none", section=table, system=context.system)
        return
    for row in rows:
        if reader.begins(row):
            yield from reader.end()
        yield from reader.row(row)
    yield from reader.end()


@dataclass(slots=True)
class _Waiting:
    """A row that waits to be converted together with others of its interval.

    `seconds` is the length of time that it states, None for one that is not above 0, `refused` the fields that could
    not be read. `items` are the records and rejects of this row alone.
    """

    row: Row
    seconds: float | None
    line: Line | None
    refused: Mapping[Reason, list[str]]
    instance: str = ""
    unknown: Unknown = ((), ())
    items: Items = field(default_factory=list)


class RowReader:
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
        self._interval: OpenInterval | None = None
        self._last: tuple[Any, ...] | None = None  # the time columns of the interval's rows, as written
        self._held: list[tuple[Row, Line | None, bool]] = []  # their instant is known once all of the interval are read
        self._held_number: str | None = None
        self._waiting: list[_Waiting] = []
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

    def _open(self, number: str | None, found: Stamp, stated: datetime | None = None) -> tuple[OpenInterval, Items]:
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

    def _envelope(self, interval: OpenInterval, seconds: float | None) -> Fields:
        """Return the fields that every row of the interval with this length carries."""
        envelope: Fields = {"ts": interval.ts, "system": self._system, "source": SOURCE}
        if seconds is not None:
            envelope["interval_s"] = seconds
        return envelope

    # rows

    def _refused_row(self, reason: Reason, detail: str) -> Items:
        """Return the items of the rows before, and the reject of this one."""
        return [*self.flush(), self._reject(reason, detail, "none")]

    def _add(self, interval: OpenInterval, row: Row, typed: bool) -> Items:
        """Let a row wait; return the items of those that waited long enough."""
        layout = self.layout
        seconds = row[layout.seconds] if layout.seconds is not None else interval.seconds
        items: Items = []
        written = seconds
        if type(seconds) is not float:
            seconds = self._seconds(seconds)
        if (seconds is None or seconds < 0) and str(written or "").strip() and "INTSEC" not in interval.refused:
            interval.refused.add("INTSEC")
            detail = f"expected the length of the interval in seconds, found {str(written).strip():.40}"
            items.append(self._reject(Reason.NOT_A_NUMBER, detail, "part"))
        if seconds is not None and seconds > 0:
            interval.seconds = max(interval.seconds or 0.0, seconds)
        else:
            seconds = None
        if len(self._waiting) == _MOST_ROWS:
            items += self.flush()
        self._sample.add(row)
        row, refused = (row, _NONE) if typed else self.conversion.of(row)
        self._waiting.append(_Waiting(row, seconds, self._at, refused))
        return items

    def _seconds(self, written: object) -> float | None:
        """Return INTSEC as a number, None where it is not one."""
        try:
            return self.conversion.number(written, whole=True)
        except ValueError:
            return None

    def flush(self) -> Items:
        """Convert the rows that wait, and return their items: records and rejects in the order of the rows, tables."""
        waiting, self._waiting = self._waiting, []
        interval = self._interval
        if interval is None or not waiting:
            return []
        tables: list[Table] = []
        line, layout = self._at, self.layout
        columns = self._columns(waiting)
        batch = self._identified(waiting, columns.of(layout.instance), interval.seen)
        if len(batch) < len(waiting):
            columns = self._columns(batch)
        for dataset, filling in layout.filled.items():
            rows, values = filling.of(columns)
            rows, values = _only(self._complete(batch, dataset, rows, values), rows, values)
            if dataset == "disk":
                values = interval.paths.counted_once(values)
            if dataset in self._running.datasets:
                for at, *each in zip(rows, *values.values(), strict=True):
                    one = batch[at]
                    self._at = one.line
                    known = {name: value for name, value in zip(values, each, strict=True) if value is not None}
                    record = Record(dataset, {**self._envelope(interval, one.seconds), **known})
                    one.items += self._running.complete(interval, one.instance, dataset, record.fields)
                    one.items.append(record)
            else:
                if self._running.since_baseline[dataset]:
                    rows, values = _only(self._reset(batch, dataset, rows, interval), rows, values)
                for seconds, alike in _alike(batch, rows):
                    shared = self._envelope(interval, seconds)
                    tables.append(Table(dataset, shared, {n: [v[at] for at in alike] for n, v in values.items()}))
            if rows:
                interval.counts[dataset] += len(rows)
        for seconds, alike in _alike(batch, range(len(batch))):
            if figures := counters(layout, [(batch[at].row, batch[at].instance, batch[at].unknown) for at in alike]):
                interval.counts["counter"] += len(figures) // len(COUNTER)
                by_column = {name: figures[at :: len(COUNTER)] for at, name in enumerate(COUNTER)}
                tables.append(Table("counter", self._envelope(interval, seconds), by_column))
        if layout.table.texts and not self._introspected:
            envelope = self._envelope(interval, None)
            for one in batch:
                settings = [(name, one.row[place].strip()) for place, name in layout.settings]
                one.items += self._settings.changed(envelope, one.instance, [*settings, *one.unknown[1]])
        self._at = line
        return [*chain.from_iterable(one.items for one in waiting), *tables]

    def _columns(self, batch: Sequence[_Waiting]) -> Columns:
        return self.layout.of([one.row for one in batch], [one.seconds for one in batch], self._known)

    def _reset(
        self, batch: Sequence[_Waiting], dataset: str, rows: Sequence[int], interval: OpenInterval
    ) -> list[bool]:
        """Return of each row whether its baseline was reset after the sample before."""
        kept = [not self._running.overlaps(interval, batch[at].seconds) for at in rows]
        if not all(kept):
            one = batch[rows[kept.index(False)]]
            self._at = one.line
            one.items += self._running.not_reset(interval, dataset, f"no {dataset}", one.seconds, interval.since_s)
        return kept

    def _identified(self, waiting: Sequence[_Waiting], named: Sequence[str | None], seen: set[str]) -> list[_Waiting]:
        """Return the rows that have an instance of their own, with what is not described of each."""
        layout, batch = self.layout, []
        for one, instance in zip(waiting, named, strict=True):
            if layout.unknown:
                one.unknown = undescribed(layout, one.row, self.conversion)
            if self._introspected:
                instance = " ".join(value for _, value in one.unknown[1])
                if instance in seen:  # no description identifies its rows
                    instance = f"{instance}#{len(seen) + 1}"
            if instance is None:
                self._refuse(one, Reason.OUT_OF_RANGE, f"expected {layout.table.instance} to name the row", "none")
            elif instance in seen:
                self._refuse(one, Reason.DUPLICATE_ROW, f"the interval has a row of {instance!r} already", "none")
            else:
                for reason, names in one.refused.items():
                    detail = f"{len(names)} fields of {instance!r}: {'; '.join(names[:_SHOWN])}"
                    self._refuse(one, reason, detail, "part")
                seen.add(instance)
                one.instance = instance
                batch.append(one)
        return batch

    def _complete(
        self, batch: Sequence[_Waiting], dataset: str, rows: Sequence[int], columns: dict[str, Column]
    ) -> list[bool]:
        """Return of each row whether it has what every row of the dataset needs."""
        required = self.layout.filled[dataset].required
        if not any(None in columns[name] for name in required):
            return [True] * len(rows)
        whole = []
        for at, *needed in zip(rows, *(columns[name] for name in required), strict=True):
            missing = [name for name, value in zip(required, needed, strict=True) if value is None]
            whole.append(not missing)
            if missing:
                self._refuse(batch[at], Reason.OUT_OF_RANGE, f"expected {', '.join(missing)} of {dataset}", "part")
        return whole

    def _refuse(self, one: _Waiting, reason: Reason, detail: str, kept: Any) -> None:
        self._at = one.line
        one.items.append(self._reject(reason, detail, kept))

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


def _alike(batch: Sequence[_Waiting], rows: Sequence[int]) -> Iterable[tuple[float | None, list[int]]]:
    """Return the positions in `rows`, numbers of rows of the batch, by the length of time that the rows state."""
    found: dict[float | None, list[int]] = {}
    for at, row in enumerate(rows):
        found.setdefault(batch[row].seconds, []).append(at)
    return found.items()


def _only(
    kept: Sequence[bool], rows: Sequence[int], columns: dict[str, Column]
) -> tuple[Sequence[int], dict[str, Column]]:
    """Return the rows that are kept, and their columns."""
    if all(kept):
        return rows, columns
    return [*compress(rows, kept)], {name: [*compress(values, kept)] for name, values in columns.items()}
