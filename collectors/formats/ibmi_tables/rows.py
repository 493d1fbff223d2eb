"""Converts rows of a table into tables of datasets: the engine behind files and SQL alike."""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import compress
from operator import attrgetter, itemgetter
from typing import Any, NamedTuple

from counterflow.collectors.formats.ibmi_tables.collection import COLLECTION, read_collection
from counterflow.collectors.formats.ibmi_tables.description import description, tables
from counterflow.collectors.formats.ibmi_tables.expression import Column, fields
from counterflow.collectors.formats.ibmi_tables.known import YES, Known
from counterflow.collectors.formats.ibmi_tables.layout import COUNTER, Layout, Row, canonical, layout
from counterflow.collectors.formats.ibmi_tables.times import Stamp, stamp
from counterflow.collectors.formats.ibmi_tables.values import SOURCE, system, text_of
from counterflow.collectors.records import Context, Fields, Reason, Record, Reject, Table, Unusable
from counterflow.collectors.text.numbers import EITHER_POINT, number_of, number_within, numbers_of
from counterflow.collectors.text.running_counts import Beside, beside
from counterflow.collectors.text.stamps import AMBIGUOUS, iso

_FORGET = timedelta(hours=1)
"""An instance whose running counts were not seen for this long begins anew."""
_MOST_TEXTS = 1_000
"""Instances whose texts are remembered although they are gone: connections and jobs come with ever new names."""
_MOST_INSTANTS = 100
"""Intervals that are remembered: a clock that goes back may meet them again."""
NOT_CONFIGURED = "0"
"""The number of all units that are not configured."""
_SHOWN = 20
_IO = ("reads", "writes", "read_kb", "written_kb", "service_ms")
"""What all rows of one unit repeat where IBM i counts its I/O by unit, and not by path."""
_MOST_ROWS = 1_000
"""Rows that are converted together."""
_MOST_VALUES = 2_000_000
"""Values that may wait for the end of their interval: more would take too much memory."""
_RESET = "query with RESET_STATISTICS => 'YES'"
FOR_UPDATE = "logical_reads_for_update"
BROUGHT_BY = "IBM i 7.5 has it; PTFs SI75389 (7.4), SI75911 (7.3) and SI75912 (7.2) bring it"
"""Db2 Mirror for i: Performance Considerations, 2.2; it names no PTF for other releases, and no name of the column."""

Items = list[Record | Table | Reject]
_Numbers = Sequence[tuple[str, float]]
_Unknown = tuple[_Numbers, Sequence[tuple[str, str]]]
"""The numbers and the texts of a row that are not described."""


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


class _Interval(NamedTuple):
    """What the rows of the open interval have in common."""

    number: str | None
    instant: datetime
    ts: str


class _Alike(NamedTuple):
    """What rows of the open interval that state the same length have in common, and their columns by dataset."""

    envelope: Fields
    columns: dict[str, dict[str, list[Any]]]


@dataclass
class _Batch:
    """Rows that wait to be converted together: they state the same length of time.

    `places` are those of the rows, `refused` the fields that could not be read, by the number of the row in the batch.
    """

    seconds: float | None
    alike: _Alike
    rows: list[Row] = field(default_factory=list)
    places: list[object] = field(default_factory=list)
    refused: dict[int, Mapping[Reason, list[str]]] = field(default_factory=dict)


class Reader:
    """Turns rows into tables, interval by interval; call `begins` before `row`, and `end` when it returns true.

    Rows wait until some can be converted together; what `row` and `flush` return is in the order of the rows.
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
        found = _for_update(table, columns)
        named = {**({FOR_UPDATE: found[0]} if len(found) == 1 else {}), **dict(context.columns)}
        self.layout: Layout = layout(table, tuple(columns), tuple(sorted(named.items())))
        self._without = _without(self.layout, named.get(FOR_UPDATE), found)
        self._zone, self._state = context.zone, state
        self._sampled_at = sampled_at or (None if self.layout.time_names else context.given_at)
        self._order = context.date_order or state.get("order")
        self._known = Known(state)
        self._filled = {filled.dataset: filled for filled in self.layout.table.records}
        self._samples = {f.dataset for f in self._filled.values() if f.previous or f.difference}
        self._since_baseline = {
            filled.dataset: [name for name, written in filled.columns.items() if "ELAPSED_" in str(written)]
            for filled in self._filled.values()
        }
        self._overflows = any(d.overflow is not None for d in self.layout.described)
        self._introspected = not self.layout.table.fields
        self._stamps: dict[tuple[Any, ...], Stamp | None] = {}
        self._interval: _Interval | None = None
        self._seconds: float | None = None
        self._since_s = 0.0  # since the interval before, 0 where there is none
        self._stated: datetime | None = None  # the time of the sample as written, where it is placed behind another
        self._last: tuple[Any, ...] | None = None  # the time columns of the interval's rows, as written
        self._held: list[tuple[Row, object, bool]] = []  # their instant is known once all of the interval are read
        self._held_number: str | None = None
        is_view = not self.layout.table.time and not self._introspected
        self._named_by = _picker_of(self.layout) if is_view else None
        self._rows: dict[Any, int] = {}  # digests of the rows of a view's sample, by what names them
        self._alike: dict[float | None, _Alike] = {}
        self._batch: _Batch | None = None
        self._waiting = 0
        self._seen: set[str] = set()
        self._io: set[tuple[Any, ...]] = set()  # the counts of each unit of the interval
        self._repeated: set[str] = set()
        self._refused: set[str] = set()
        self._counts: Counter[str] = Counter()
        self.ends: dict[str, tuple[str, float | None]] = {}
        """The end and length of each interval that was read, by its number."""
        self.points_group: Callable[[], bool | None] | None = None
        """Returns whether points separate thousands, see `number_within`; without it they are decimal points."""
        self._at: object = None
        self.rejected: list[tuple[Reject, object]] = []
        """Rejects that were returned, each with the `place` of its row; the caller clears the list."""

    # intervals

    def begins(self, row: Row) -> bool:
        """Return whether `row` belongs to another interval than the rows before it."""
        if (self._interval is None and not self._held) or len(row) != len(self.layout.columns):
            return False
        if self.layout.time(row) == self._last:
            return self._is_of_another(row)
        number, found, ended = self._place(row)
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
        if self._interval is None:
            return items
        items += self.flush()
        items += self._tables()
        if self._repeated and not self._state.get("paths"):
            self._state["paths"] = True
            shown = ", ".join(sorted(self._repeated)[:_SHOWN])
            detail = (
                f"{len(self._repeated)} units have several rows with the same counts, {shown}: "
                "taken as paths of one unit, whose I/O counts once (unverified)"
            )
            items.append(self._reject(Reason.DUPLICATE_ROW, detail, "all"))
        table = self.layout.table.table
        seconds = self._since_s if self._overlaps(self._seconds) else self._seconds
        envelope = {**self._envelope(seconds), "source": f"{SOURCE}.{table}"}
        for dataset, count in self._counts.items():
            items.append(Record("manifest", {**envelope, "counted": dataset, "row_count": count}))
        self._state.setdefault("ts", {})[table] = self._interval.ts
        if self._interval.number is not None:
            self._state.setdefault("number", {})[table] = self._interval.number
            self.ends[self._interval.number] = (self._interval.ts, self._seconds)
        self._instants[self._interval.ts] = self._interval.number or self._digest()
        if len(self._instants) > _MOST_INSTANTS:
            del self._instants[next(iter(self._instants))]
        oldest = iso(self._interval.instant - _FORGET)
        memory = self._state.get("previous", {}).get(table, {})
        for instance in [i for i, sample in memory.items() if sample["ts"] < oldest]:
            del memory[instance]
        texts = self._state.get("config", {}).get(table, {})
        if len(texts) > _MOST_TEXTS:
            for instance in texts.keys() - self._seen:
                del texts[instance]
        self._interval = self._last = self._seconds = None
        self._alike, self._stamps = {}, {}
        self._seen, self._refused, self._counts = set(), set(), Counter()
        self._io, self._repeated, self._rows = set(), set(), {}
        return items

    def row(self, row: Row, place: object = None, *, typed: bool = False) -> Items:
        """Take one row and return items of the rows so far that do not wait for the end of the interval.

        A fault becomes a reject, which `rejected` holds with the row's `place`.

        `typed` means that its numbers are converted already, as `Layout.typed` does.
        """
        self._at = place
        if len(row) != len(self.layout.columns):
            detail = f"expected {len(self.layout.columns)} values, found {len(row)}"
            return self._refused_row(Reason.FIELD_COUNT, detail)
        if self._interval is not None and self.layout.time(row) == self._last:
            return self._add(row, typed)
        try:
            number, found, ended = self._place(row, strict=True)
        except (ValueError, OverflowError) as error:
            return self._refused_row(Reason.STAMP_INVALID, str(error))
        if found is None:
            detail = "expected UTCTIME, DATETIME, DTETIM or SAMPLE_TIME, found no time in the row"
            if not self.layout.time_names:
                detail += ": select CURRENT_TIMESTAMP AS TS beside the columns, or --at gives the time of all rows"
            return self._refused_row(Reason.STAMP_MISSING, detail)
        items: Items = []
        if self._interval is None:
            if self._named_by is not None and iso(found.instant) in self._instants:
                self._held.append((row, place, typed))
                self._rows[self._named_by(row)] = _digest(row)
                self._last = self.layout.time(row)
                return items
            if self._is_late(number, found, ended=ended):
                detail = "the interval was taken as whole before: at another heading, or when the file had not grown"
                return self._refused_row(Reason.LATE_ROW, detail)
            if ended:
                self._held.append((row, place, typed))
                self._held_number = number
                return items
            items += self._open(number, found)
            self._at = place
        if not ended:
            self._last = self.layout.time(row)
        return items + self._add(row, typed)

    def _is_late(self, number: str | None, found: Stamp, *, ended: bool) -> bool:
        """Return whether a row belongs to the interval that was ended last; a job ends before its interval does."""
        before = self._state.get("ts", {}).get(self.layout.table.table)
        if before is None:
            return False
        if ended:
            same = number == self._state.get("number", {}).get(self.layout.table.table)
            return bool(same) and found.instant <= datetime.fromisoformat(before)
        return bool(iso(found.instant) == before)

    def _is_of_another(self, row: Row) -> bool:
        """Return whether a row of a view states the time of a sample that has the row already, with other values."""
        known = None if self._named_by is None else self._rows.get(self._named_by(row))
        return known is not None and known != _digest(row)

    def _open_held(self) -> Items:
        """Open the interval of the rows that wait for its instant.

        Of rows of a view, a sample before states their time: all of them are that sample again, or another one.
        """
        stamps = [found for row, *_ in self._held if (found := self._place(row)[1])]
        last = max(stamps, key=attrgetter("instant"))
        if self._last is None:
            return self._open(self._held_number, Stamp(last.instant))
        instant = self._apart(self._digest(), last.instant)
        _, self._at, _ = self._held[0]
        if iso(instant) not in self._instants:
            items = self._open(None, last._replace(instant=instant), last.instant)
            if self._since_s > 0:
                detail = "two samples state one time: this one is placed behind the other"
                items.append(self._reject(Reason.INFERRED, detail, "all"))
            return items
        detail = f"the sample of {iso(instant)} was read before, its rows ({len(self._held)}) are left out"
        self._held, self._last, self._stamps, self._rows = [], None, {}, {}
        return [self._reject(Reason.DUPLICATE_ROW, detail, "none")]

    def _digest(self) -> str:
        """Return the digest of the sample's rows."""
        return f"{zlib.crc32(repr([*self._rows.values()]).encode()):x}"

    def _open(self, number: str | None, found: Stamp, stated: datetime | None = None) -> Items:
        items: Items = []
        self._stated = stated
        before = self._state.get("ts", {}).get(self.layout.table.table)
        self._interval = _Interval(number, found.instant, iso(found.instant))
        self._seconds = found.seconds
        self._since_s = (found.instant - datetime.fromisoformat(before)).total_seconds() if before else 0.0
        if self._since_s < 0:
            detail = f"the interval before is of {before}: members are mixed, or the clock went back"
            items.append(self._reject(Reason.CLOCK_CHANGE, detail, "all"))
        if found.ambiguous:
            items.append(self._reject(Reason.CLOCK_CHANGE, AMBIGUOUS, "all"))
        noted: list[str] = self._state.setdefault("without", []) if self._without else []
        if self._without and self.layout.table.table not in noted:
            noted.append(self.layout.table.table)
            items.append(self._reject(Reason.COLUMN_MISSING, self._without, "all"))
        held, self._held, self._held_number = self._held, [], None
        for row, self._at, typed in held:
            items += self._add(row, typed)
        return items

    def _place(self, row: Row, *, strict: bool = False) -> tuple[str | None, Stamp | None, bool]:
        """Return interval number and time of a row, and whether the time is that of a job which ended."""
        layout = self.layout
        values = layout.time(row)
        ended = layout.ended is not None and str(row[layout.ended]).strip()[:1] in ("2", "3")
        try:
            found = self._stamps[values]
        except KeyError:
            before = self._state.get("ts", {}).get(layout.table.table)
            after = datetime.fromisoformat(before) if before else None
            try:
                found = stamp(dict(zip(layout.time_names, values, strict=True)), self._zone, after, self._order)
            except (ValueError, OverflowError):
                if strict:
                    raise
                return None, None, ended
            if found is None and self._sampled_at is not None:
                found = Stamp(self._sampled_at.astimezone(UTC))
            if found is None and (end := self._state.get("ends", {}).get(self._number(values))):
                found = Stamp(datetime.fromisoformat(end[0]), seconds=end[1])
            if found is not None and not ended:
                found = found._replace(instant=self._apart(self._number(values), found.instant))
            self._stamps[values] = found
        return self._number(values), found, ended

    def _apart(self, number: str | None, instant: datetime) -> datetime:
        """Return an instant that no other interval has: the clock went back where its number is another one.

        The digest of its rows stands for the number that it does not have.
        """
        while number is not None and self._instants.get(iso(instant), number) != number:
            instant += timedelta(milliseconds=1)
        return instant

    @property
    def _instants(self) -> dict[str, str]:
        """The numbers of the intervals before, or the digests of their rows, by their instants."""
        instants: dict[str, str] = self._state.setdefault("instants", {}).setdefault(self.layout.table.table, {})
        return instants

    def _number(self, values: tuple[Any, ...]) -> str | None:
        return str(values[0]).strip() if self.layout.time_names[:1] == ("INTNUM",) else None

    def _envelope(self, seconds: float | None) -> Fields:
        """Return the fields that every row of the interval with this length carries."""
        assert self._interval is not None  # noqa: S101 - open while rows are read
        envelope: Fields = {"ts": self._interval.ts, "system": self._system, "source": SOURCE}
        if seconds is not None and seconds > 0:
            envelope["interval_s"] = seconds
            self._seconds = max(self._seconds or 0.0, seconds)
        return envelope

    # rows

    def _refused_row(self, reason: Reason, detail: str) -> Items:
        """Return the items of the rows before, and the reject of this one."""
        place = self._at
        items = self.flush()
        self._at = place
        return [*items, self._reject(reason, detail, "none")]

    def _add(self, row: Row, typed: bool) -> Items:
        """Let a row wait; return the items of those that waited long enough."""
        layout = self.layout
        seconds = row[layout.seconds] if layout.seconds is not None else self._seconds
        items: Items = []
        written = seconds
        if type(seconds) is not float:
            seconds = _seconds(seconds)
        if (seconds is None or seconds < 0) and str(written or "").strip() and "INTSEC" not in self._refused:
            self._refused.add("INTSEC")
            detail = f"expected the length of the interval in seconds, found {str(written).strip():.40}"
            items.append(self._reject(Reason.NOT_A_NUMBER, detail, "part"))
        batch = self._batch
        if batch is None or batch.seconds != seconds or len(batch.rows) == _MOST_ROWS:
            place = self._at
            items += self.flush()
            self._at = place
            alike = self._alike.setdefault(seconds, _Alike(self._envelope(seconds), {}))
            batch = self._batch = _Batch(seconds, alike)
        if self._named_by is not None:
            self._rows.setdefault(self._named_by(row), _digest(row))
        if not typed:
            row, refused = self._typed(row)
            if refused:
                batch.refused[len(batch.rows)] = refused
        batch.rows.append(row)
        batch.places.append(self._at)
        return items

    def flush(self) -> Items:
        """Convert the rows that wait, and return their items that do not wait for the end of the interval."""
        batch, self._batch = self._batch, None
        if batch is None:
            return []
        found: list[tuple[int, Record | Reject]] = []
        layout, (envelope, waiting) = self.layout, batch.alike
        columns = layout.of(batch.rows, envelope.get("interval_s"), self._known)
        instances, unknown = self._identified(batch, columns.of(layout.instance), found)
        if len(batch.rows) < columns.rows:
            columns = layout.of(batch.rows, envelope.get("interval_s"), self._known)
        for dataset, filling in layout.filled.items():
            rows, values = self._complete(batch, dataset, *filling.of(columns), found)
            if dataset == "disk":
                values = self._counted_once(values)
            if dataset in self._samples:
                for at, *each in zip(rows, *values.values(), strict=True):
                    self._at = batch.places[at]
                    known = {name: value for name, value in zip(values, each, strict=True) if value is not None}
                    record = Record(dataset, {**envelope, **known})
                    found += ((at, reject) for reject in self._since_before(instances[at], dataset, record.fields))
                    found.append((at, record))
            elif self._since_baseline[dataset] and self._overlaps(batch.seconds):
                for at in rows[:1]:
                    self._at = batch.places[at]
                    rejects = self._not_reset(dataset, f"no {dataset}", batch.seconds, self._since_s)
                    found += ((at, reject) for reject in rejects)
                continue
            elif rows:
                self._wait(waiting, dataset, values)
            if rows:
                self._counts[dataset] += len(rows)
        counters = self._counters(batch.rows, instances, [numbers for numbers, _ in unknown])
        if counters:
            self._counts["counter"] += len(counters) // len(COUNTER)
            self._wait(waiting, "counter", {name: counters[at :: len(COUNTER)] for at, name in enumerate(COUNTER)})
        if layout.table.texts and not self._introspected:
            for at, (row, (_, strange)) in enumerate(zip(batch.rows, unknown, strict=True)):
                settings = [(leftover.name, row[leftover.place].strip()) for leftover in layout.settings]
                records = self._config(envelope, instances[at], [*settings, *strange])
                found += ((at, record) for record in records)
        found.sort(key=itemgetter(0))
        items: Items = [item for _, item in found]
        if self._waiting >= _MOST_VALUES:
            items += self._tables()
        return items

    def _identified(
        self, batch: _Batch, named: Sequence[str | None], found: list[tuple[int, Record | Reject]]
    ) -> tuple[list[str], list[_Unknown]]:
        """Return the instance of each row and what is not described of it; remove rows without one from the batch.

        The rejects go to `found`.
        """
        layout = self.layout
        instances: list[str] = []
        unknown = []
        rows, places = batch.rows, batch.places
        batch.rows, batch.places = [], []
        for at, row in enumerate(rows):
            instance = named[at]
            numbers, texts = self._undescribed(row) if layout.unknown else ((), ())
            if self._introspected:
                instance = " ".join(value for _, value in texts)
                if instance in self._seen:  # no description identifies its rows
                    instance = f"{instance}#{len(self._seen) + 1}"
            self._at, kept = places[at], len(batch.rows)
            if instance is None:
                detail = f"expected {layout.table.instance} to name the row"
                found.append((kept, self._reject(Reason.OUT_OF_RANGE, detail, "none")))
                continue
            if instance in self._seen:
                detail = f"the interval has a row of {instance!r} already"
                found.append((kept, self._reject(Reason.DUPLICATE_ROW, detail, "none")))
                continue
            for reason, names in batch.refused.get(at, {}).items():
                detail = f"{len(names)} fields of {instance!r}: {'; '.join(names[:_SHOWN])}"
                found.append((kept, self._reject(reason, detail, "part")))
            self._seen.add(instance)
            instances.append(instance)
            unknown.append((numbers, texts))
            batch.rows.append(row)
            batch.places.append(places[at])
        return instances, unknown

    def _complete(
        self,
        batch: _Batch,
        dataset: str,
        rows: Sequence[int],
        columns: dict[str, Column],
        found: list[tuple[int, Record | Reject]],
    ) -> tuple[Sequence[int], dict[str, Column]]:
        """Return the rows of a dataset that have what every row needs; the rejects of others go to `found`."""
        required = self.layout.filled[dataset].required
        if not any(None in columns[name] for name in required):
            return rows, columns
        whole = []
        for at, *needed in zip(rows, *(columns[name] for name in required), strict=True):
            missing = [name for name, value in zip(required, needed, strict=True) if value is None]
            whole.append(not missing)
            if missing:
                self._at = batch.places[at]
                detail = f"expected {', '.join(missing)} of {dataset}"
                found.append((at, self._reject(Reason.OUT_OF_RANGE, detail, "part")))
        return [*compress(rows, whole)], {name: [*compress(values, whole)] for name, values in columns.items()}

    def _counted_once(self, values: dict[str, Column]) -> dict[str, Column]:
        """Return the columns of disks; a row that repeats the counts of another row of its unit is no leaf."""
        given = {"unit": values.get("unit"), **{name: values.get(name) for name in _IO}}
        known = [column for column in given.values() if column is not None]
        if given["unit"] is None or len(known) < 2:
            return values
        leaves, kinds = [*values["leaf"]], [*values["device_type"]]
        for at, (unit, *counts) in enumerate(zip(*known, strict=True)):
            if unit in (None, NOT_CONFIGURED) or not any(counts):
                continue
            if (unit, *counts) in self._io:
                leaves[at], kinds[at] = False, "path"
                self._repeated.add(str(unit))
            self._io.add((unit, *counts))
        return {**values, "leaf": leaves, "device_type": kinds}

    def _counters(self, rows: Sequence[Row], instances: Sequence[str], unknown: Sequence[_Numbers]) -> list[Any]:
        """Return the values of rows of `counter`, one after the other: what no other dataset models."""
        table = self.layout.table
        found: list[Any] = []
        for row, instance, strange in zip(rows, instances, unknown, strict=True):
            further = self._is_further(row)
            for place, name, described in self.layout.spare:
                value = row[place]
                if (value or (table.zeros and value is not None)) and not (described.once and further):
                    found += table.table, instance, name, value, described.unit, described.kind
            for name, value in strange:
                if value or table.zeros:
                    found += table.table, instance, name, value, None, None
        return found

    def _is_further(self, row: Row) -> bool:
        """Return whether the row is of a path of a multipath unit that is not the initial one."""
        if self.layout.path is None:
            return False
        multipath, initial = (str(flag).strip() in YES for flag in self.layout.path(row))
        return multipath and not initial

    def _wait(self, waiting: dict[str, dict[str, list[Any]]], dataset: str, columns: Mapping[str, Column]) -> None:
        """Keep rows of a dataset for the table at the end of the interval."""
        kept = waiting.setdefault(dataset, {name: [] for name in columns})
        for name, values in columns.items():
            kept[name] += values
            self._waiting += len(values)

    def _tables(self) -> list[Table]:
        tables = []
        for envelope, waiting in self._alike.values():
            tables += [
                Table(dataset, envelope, columns) for dataset, columns in waiting.items() if any(columns.values())
            ]
            waiting.clear()
        self._waiting = 0
        return tables

    def _undescribed(self, row: Row) -> _Unknown:
        """Return the numbers and the texts of the columns that are not described."""
        numbers, texts = [], []
        for leftover in self.layout.unknown:
            value = row[leftover.place]
            try:
                number = number_of(value)
            except ValueError:
                texts.append((leftover.name, text_of(value) or ""))
            else:
                if number is not None:
                    numbers.append((leftover.name, number))
        return numbers, texts

    def _typed(self, row: Row) -> tuple[Row, Mapping[Reason, list[str]]]:
        """Return the row with its numbers converted and its texts as text, and the refused fields by reason."""
        layout = self.layout
        refused: dict[Reason, list[str]] = {}
        numbers: Sequence[float | None]
        try:
            careful = self._overflows or self._has_points(row)
            numbers = self._repaired(row, refused) if careful else numbers_of(layout.numbers(row))
        except (ValueError, TypeError, OverflowError):
            numbers = self._repaired(row, refused)
        typed = list(row)
        for place, number in zip(layout.number_places, numbers, strict=True):
            typed[place] = number
        for place in layout.text_places:
            typed[place] = text_of(row[place]) or ""
        for place in layout.dash_places:
            typed[place] = "-" if str(row[place]).strip() == "-" else typed[place]
        return typed, refused

    def _has_points(self, row: Row) -> bool:
        """Return whether numbers of the row have points that may separate thousands."""
        if self.points_group is None or not any(map(EITHER_POINT.fullmatch, self.layout.numbers(row))):
            return False
        if self.points_group() is False:
            self.points_group = None  # no row of the file has any
        return self.points_group is not None

    def _repaired(self, row: Row, refused: dict[Reason, list[str]]) -> list[float | None]:
        """Return the numbers of a row, some of which need care: null, a decimal comma, a value that is refused."""
        layout = self.layout
        points_group = self.points_group or (lambda: False)
        found: list[float | None] = []
        for name, described, value in zip(layout.number_names, layout.described, layout.numbers(row), strict=True):
            number: float | None = None
            try:
                number = number_within(value, points_group, whole=described.whole)
            except Unusable as error:
                refused.setdefault(error.reason, []).append(f"{name}: {error}")
            if number is not None and described.overflow is not None and number >= described.overflow:
                if number > described.overflow:
                    refused.setdefault(Reason.OUT_OF_RANGE, []).append(f"{name}: {number:g}")
                number = None
            if number is not None and number < 0 and not described.signed:
                refused.setdefault(Reason.NEGATIVE_DELTA, []).append(f"{name}: {number:g}")
                number = None
            found.append(number)
        return found

    def _since_before(self, instance: str, dataset: str, columns: Fields) -> list[Reject]:
        """Complete a record of running counts with those of the instance's preceding sample."""
        assert self._interval is not None  # noqa: S101 - open while rows are read
        filled, instant = self._filled[dataset], self._interval.instant
        now = {name: columns[name] for name in (*filled.previous, *filled.difference) if name in columns}
        memory = self._state.setdefault("previous", {}).setdefault(self.layout.table.table, {})
        known = memory.get(instance)
        try:
            found = beside(known, instant, now)
        except Unusable as error:
            anew = beside(None, instant, now).sample
            found = Beside({}, anew, reason=Reason.RESTARTED, detail=str(error))
        for name in filled.difference:
            columns.pop(name, None)
        if self._stated and found.apart_s is not None and datetime.fromisoformat(known["ts"]) >= self._stated:
            return []  # placed behind the sample before, which states the same time: the amounts are the next sample's
        memory[instance] = found.sample
        rejects = [self._reject(found.reason, f"{instance!r}: {found.detail}", "all")] if found.reason else []
        if found.apart_s is None:
            return rejects
        stated = columns.get("interval_s")
        columns["interval_s"] = found.apart_s if filled.difference else found.fields["interval_s"]
        if filled.previous:
            columns["prev_ts"] = found.fields["prev_ts"]
        before = {name: found.fields[f"prev_{name}"] for name in now if f"prev_{name}" in found.fields}
        columns |= {f"prev_{name}": before[name] for name in filled.previous if name in before}
        if found.reason is Reason.RESTARTED:
            return rejects
        columns |= {name: now[name] - before[name] for name in filled.difference if name in before}
        averages = [name for name in self._since_baseline[dataset] if name in columns]
        if stated is None or not averages or abs(stated - found.apart_s) <= _tolerance_s(found.apart_s):
            return rejects
        for name in averages:
            del columns[name]
        return [*rejects, *self._not_reset(dataset, f"no {', '.join(averages)}", stated, found.apart_s)]

    def _overlaps(self, seconds: float | None) -> bool:
        """Return whether a row covers time that the row before covers as well: its baseline was not reset since."""
        since_s = self._since_s
        return bool(
            not self.layout.table.time and seconds and since_s > 0 and seconds > since_s + _tolerance_s(since_s)
        )

    def _not_reset(self, dataset: str, lacking: str, covered_s: float | None, apart_s: float) -> list[Reject]:
        """Return why figures since a baseline are no figures of the interval; once for all rows of an interval."""
        if dataset in self._refused:
            return []
        self._refused.add(dataset)
        detail = f"{lacking}: the row covers {covered_s:g} s, and {apart_s:g} s passed since the sample before"
        return [self._reject(Reason.REPEATED_BLOCK, f"{detail}; {_RESET}", "part")]

    def _config(self, envelope: Fields, instance: str, settings: list[tuple[str, str]]) -> list[Record]:
        """Return the texts of an instance where they differ from those that were sent last."""
        if not settings:
            return []
        table = self.layout.table.table
        digest = f"{zlib.crc32(repr(settings).encode('utf-8', 'replace')):x}"
        sent = self._state.setdefault("config", {}).setdefault(table, {})
        if sent.get(instance) == digest:
            return []
        sent[instance] = digest
        common = {name: value for name, value in envelope.items() if name != "interval_s"}
        common |= {"section": table, "item": instance}
        return [Record("config", {**common, "name": name, "value": value}) for name, value in settings if value]

    def _reject(self, reason: Reason, detail: str, kept: Any) -> Reject:
        ts = self._interval.ts if self._interval else None
        reject = Reject(reason, detail, kept, section=self.layout.table.table, system=self._system, ts=ts)
        self.rejected.append((reject, self._at))
        return reject


def _picker_of(layout: Layout) -> Callable[[Row], tuple[Any, ...]]:
    """Return what picks the values of a row that name it within its sample."""
    named = {*fields(layout.instance)}
    places = [place for place, column in enumerate(layout.columns) if column in named]
    return lambda row: tuple(row[place] for place in places)


def _digest(row: Row) -> int:
    return zlib.crc32(repr(row).encode("utf-8", "replace"))


def _tolerance_s(seconds: float) -> float:
    """Return by how much the stated length of an interval may differ from the time between two answers."""
    return max(5.0, seconds / 10)


def _seconds(written: object) -> float | None:
    """Return INTSEC as a number, None where it is not one."""
    try:
        return number_of(written)
    except ValueError:
        return None


def _for_update(table: str, columns: Sequence[str]) -> list[str]:
    """Return the columns that may count reads for update, by their names or labels.

    The name of the field was published nowhere: it is known by its label, or because the site names it.
    """
    known = description(table)
    if known is None or not any("logical_reads" in filled.columns for filled in known.records):
        return []
    undescribed = [column for column in canonical(known, columns) if column not in known.fields]
    return [column for column in undescribed if "UPDATE" in column and "READ" in column]


def _without(layout: Layout, named: str | None, found: Sequence[str]) -> str | None:
    """Return why reads for update are unknown beside logical reads, or None where they are known."""
    sources = {filled.columns.get("logical_reads") for filled in layout.table.records}
    if sources.isdisjoint(layout.columns) or (named is not None and named.strip().upper() in layout.columns):
        return None
    if named is None and found:
        which = f"{', '.join(found)} may each count reads for update: name one, columns: {{{FOR_UPDATE}: NAME}}"
        return f"{which}; until then {FOR_UPDATE} is null"
    looked = "no column, or not one alone, has READ and UPDATE in its name or label"
    if named is not None:
        looked = f"there is no column {named}, which the configuration names"
    return f"{looked}: {FOR_UPDATE} is null. {BROUGHT_BY}"
