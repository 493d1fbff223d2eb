"""Refuses figures that cannot be, of every format: the limits stand beside each column in schemas/datasets/.

A figure beyond its limits becomes null and its row stays. Where the interval itself cannot be, the sample weighs
nothing: the interval and all that was computed with it are null. A row that is nothing but its figure is left out.
Each row or table with such figures yields one reject, `out_of_range`, behind it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache, partial
from typing import Any, BinaryIO, Literal, NamedTuple

from counterflow.collectors.records import Context, Fields, Format, Item, Position, Reason, Record, Reject, Table
from counterflow.schemas.definition import Column, Limit, envelope
from counterflow.schemas.definition import dataset as defined

SLACK = 1.01
"""Figures are rounded, and clocks are read beside the counters: what exceeds a limit by this much is kept."""
_BEYOND_ANY = 2.0**63
_WRAPS = (32, 64)
_NEAR = 65_536.0
"""A count that wrapped lies this far below 2^32; below 2^64, where recorders compute with fractions, 1/1024 of it."""
_NEAR_RATE = 64.0
_FEW = 2.0**31
"""Less than this is no wrap."""
_FEW_SECONDS = range(1, 17)
"""Intervals of recorders whose rates are looked at alone: the stated interval may be another one."""
_WITH_INTERVAL = ("delta", "percent", "rate")
_MOST_NAMED = 5
_NUMBERS = ("Float64", "Int64", "UInt64")

Row = Mapping[str, Any]
Member = Callable[[str], Any]
"""Returns a member of a row by its name, None where the row has none."""


class _Judged(NamedTuple):
    """A column, its name and how its figures are judged; `stated`: each row states the kind of its figure."""

    name: str
    column: Column
    least: float
    stated: bool

    def beyond(self, value: Any, member: Member) -> str | None:
        """Return why a figure of a row cannot be, None where it can."""
        if value is None or type(value) not in (int, float):
            return None
        unit = (member("unit") or "") if self.stated else self.column.unit
        if value < self.least:
            return f"{value:.12g} is below {self.least:g} {unit}"
        for limit in self.column.limits:
            most: float | None = limit.most
            for factor in limit.per:
                known = member(factor)
                most = most * known if most is not None and known else None
            if most is not None and value > most * SLACK:
                per = "".join(f" * {factor}" for factor in limit.per)
                return f"{value:.12g} is above {most:.12g} {unit}" + (f" ({limit.most:g}{per})" if per else "")
        if abs(value) >= _BEYOND_ANY:
            return f"{value:.12g} {unit}".rstrip() + " is beyond any counter"
        return self._wrapped(value, member)

    def _wrapped(self, value: float, member: Member) -> str | None:
        kind, seconds = (member("kind") or "rate") if self.stated else self.column.kind, member("interval_s")
        if kind not in ("delta", "rate"):
            return None
        amount = value * self.column.counts * (1.0 if kind == "delta" else seconds or 0.0)
        if amount < _FEW:
            return None
        per_s = amount / seconds if seconds else 0.0
        for bits in _WRAPS:
            whole = 2.0**bits
            near = _NEAR if bits == _WRAPS[0] else whole / 1024
            few = any(abs(per_s * n - whole) <= _NEAR_RATE for n in _FEW_SECONDS)
            if 0 < whole - amount <= near or few:
                return f"{value:.12g} {self.column.unit} is nearly 2^{bits} counts: the counter went back"
        return None

    def ceiling(self, seconds: float | None) -> float:
        """Return a figure up to which every row of `seconds` is plausible, whatever its other columns."""
        limits = [limit.most if limit.per == () else self._per(limit, seconds) for limit in self.column.limits]
        counts = self.column.counts
        if self.stated:
            return min([*limits, _FEW / max(seconds or 1.0, 1.0)])
        wraps = {"delta": _FEW / counts, "rate": _FEW / counts / max(seconds or 1.0, 1.0)}
        return min([*limits, wraps.get(self.column.kind or "", _BEYOND_ANY / 2)])

    @staticmethod
    def _per(limit: Limit, seconds: float | None) -> float:
        if limit.per != ("interval_s",):
            return 0.0
        return limit.most * seconds if seconds else _BEYOND_ANY


@cache
def _judged(dataset: str) -> tuple[_Judged, ...]:
    """Return the columns of a dataset that have numbers, but for the envelope."""
    found = defined(dataset)
    columns = found.columns if found is not None else {}
    return tuple(
        _Judged(name, column, -_BEYOND_ANY if column.signed else 0.0, column.signed and "kind" in columns)
        for name, column in columns.items()
        if column.type in _NUMBERS
    )


@cache
def _longest() -> float:
    """Return the longest interval that a sample may have unless its source states a longer one."""
    return min(limit.most for limit in envelope("counter")["interval_s"].limits)


@lru_cache(maxsize=64)
def _with_ceilings(dataset: str, seconds: float | None) -> tuple[tuple[_Judged, float], ...]:
    """Return the judged columns of a dataset with their ceilings."""
    return tuple((judged, judged.ceiling(seconds)) for judged in _judged(dataset))


@dataclass(slots=True)
class Plausible:
    """A format without the figures that cannot be; `longest_s` is the longest interval that its source may state."""

    name: str
    format: Format
    longest_s: float | None = None

    def recognises(self, head: bytes) -> bool:
        """Return whether the format recognises a file that begins with `head`."""
        return self.format.recognises(head)

    def parse(self, stream: BinaryIO, context: Context, position: Position | None = None) -> Iterator[Item]:
        """Yield what the format yields, with null for each figure that cannot be and a reject behind its row."""
        longest_s = self.longest_s or _longest()
        judge = _Judge(longest_s)
        for item in self.format.parse(stream, context, position):
            if type(item) is Record:
                yield from judge.record(item)
            elif type(item) is Table:
                yield from judge.table(item)
            else:
                if type(item) is Position:
                    judge = _Judge(longest_s)  # a parse that is resumed here judges alike
                yield item


@dataclass(slots=True)
class _Judge:
    """Judges the rows between two positions.

    `_left_out` counts the rows that a manifest behind them still counts, `_reported` has the samples whose interval
    was reported.
    """

    longest_s: float
    _reported: set[tuple[Any, ...]] = field(default_factory=set)
    _left_out: Counter[tuple[Any, ...]] = field(default_factory=Counter)

    def record(self, record: Record) -> Iterator[Item]:
        fields = record.fields
        faults: list[str] = []
        if record.dataset == "manifest" and self._left_out:
            fields = self._recounted(fields)
        if self._interval_is_impossible(fields, faults):
            fields = _weightless(record.dataset, fields)
        possible = _possible(record.dataset, fields, faults)
        if possible is None:
            self._left_out[_counted(record.dataset, record.fields)] += 1
        else:
            yield record if possible is record.fields else record._replace(fields=possible)
        if faults:
            detail = f"{_place(record.dataset, fields)}: {'; '.join(faults)}"
            yield _reject(detail, record.fields, possible is None, record.line)

    def table(self, table: Table) -> Iterator[Item]:
        """Yield a table that is plausible as it is, any other as its rows, with one reject for all of them."""
        if self._is_plausible(table):
            yield table
            return
        items = [item for row in table.records() for item in self.record(row)]
        kept = [item for item in items if not isinstance(item, Reject)]
        faults = [item.detail for item in items if isinstance(item, Reject)]
        yield from kept
        more = f"; and {len(faults) - _MOST_NAMED} more" if len(faults) > _MOST_NAMED else ""
        if faults:
            yield _reject("; ".join(faults[:_MOST_NAMED]) + more, table.shared, not kept, table.line)

    def _is_plausible(self, table: Table) -> bool:
        seconds = table.shared.get("interval_s")
        return (seconds is None or 0 <= seconds <= self.longest_s) and not any(_looked_at(table))

    def _interval_is_impossible(self, fields: Row, faults: list[str]) -> bool:
        """Return whether the interval of a sample cannot be; the first row of the sample reports it."""
        seconds = fields.get("interval_s")
        if seconds is None or 0 <= seconds <= self.longest_s:
            return False
        sample = (fields.get("system"), fields.get("ts"), seconds)
        if sample not in self._reported:
            self._reported.add(sample)
            bound = "below 0" if seconds < 0 else f"above {self.longest_s:g}"
            faults.append(f"interval_s {seconds:.12g} is {bound} s: the sample weighs nothing")
        return True

    def _recounted(self, fields: Fields) -> Fields:
        """Return a manifest without the rows that were left out."""
        left_out = self._left_out.pop(_counted(str(fields.get("counted")), fields), 0)
        return {**fields, "row_count": fields["row_count"] - left_out} if left_out else fields


def _possible(dataset: str, fields: Fields, faults: list[str]) -> Fields | None:
    """Return the fields of a row without the figures that cannot be, None where nothing else is in it.

    Why a figure cannot be is added to `faults`.
    """
    left_out = False
    for judged, ceiling in _with_ceilings(dataset, fields.get("interval_s")):
        value = fields.get(judged.name)
        if value is None or _is_within(value, ceiling) or (beyond := judged.beyond(value, fields.get)) is None:
            continue
        faults.append(f"{judged.name} {beyond}")
        if judged.column.null_when is None:
            left_out = True
        else:
            fields = {name: kept for name, kept in fields.items() if name != judged.name}
    if (beyond := _beyond_the_whole(dataset, fields.get)) is not None:
        faults.append(beyond)
        fields = {name: kept for name, kept in fields.items() if name not in _shares(dataset)}
    return None if left_out else fields


def _member(table: Table, at: int, name: str) -> Any:
    values = table.columns.get(name)
    return table.shared.get(name) if values is None else values[at]


def _looked_at(table: Table) -> Iterator[str | None]:
    """Yield of each figure that needs a closer look why it cannot be, None where it can: nearly all need none."""
    for judged, ceiling in _with_ceilings(table.dataset, table.shared.get("interval_s")):
        values = table.columns.get(judged.name)
        if values is not None and not _within(values, ceiling):
            for at, value in enumerate(values):
                if value is not None and not _is_within(value, ceiling):
                    yield judged.beyond(value, partial(_member, table, at))
    shares = [table.columns[name] for name in _shares(table.dataset) if name in table.columns]
    for at, each in enumerate(zip(*shares, strict=True)):
        if sum(filter(None, each)) > 100:
            yield _beyond_the_whole(table.dataset, partial(_member, table, at))


@cache
def _shares(dataset: str) -> tuple[str, ...]:
    definition = defined(dataset)
    return definition.shares if definition else ()


def _beyond_the_whole(dataset: str, member: Member) -> str | None:
    """Return why the shares of one whole cannot be, None where they can; each may be a tick of 10 ms too large."""
    known = {name: share for name in _shares(dataset) if (share := member(name)) is not None}
    total, ticks_pct = sum(known.values()), len(known) / (member("interval_s") or 1.0)
    return f"{' + '.join(known)} {total:.12g} is above 100 %" if total > 100 * SLACK + ticks_pct else None


def _within(values: Sequence[Any], ceiling: float) -> bool:
    """Return whether all figures of a column certainly are plausible: nearly every column."""
    try:
        known = values if None not in values else [value for value in values if value is not None]
        return not known or (min(known) >= 0 and max(known) <= ceiling)
    except TypeError:
        return False


def _is_within(value: Any, ceiling: float) -> bool:
    """Return whether a figure certainly is plausible."""
    return type(value) is float and 0.0 <= value <= ceiling


def _counted(dataset: str, fields: Row) -> tuple[Any, ...]:
    return (dataset, *(fields.get(name) for name in ("system", "boot_id", "ts")))


def _weightless(dataset: str, fields: Fields) -> Fields:
    """Return the fields without the interval and the figures that were computed with it."""
    lost = {"interval_s", *_computed_with_interval(dataset)}
    return {name: value for name, value in fields.items() if name not in lost}


@cache
def _computed_with_interval(dataset: str) -> frozenset[str]:
    return frozenset(
        judged.name
        for judged in _judged(dataset)
        if judged.column.kind in _WITH_INTERVAL and judged.column.null_when is not None
    )


def _place(dataset: str, fields: Row) -> str:
    """Return which row of a dataset it is: its key without system and time."""
    definition = defined(dataset)
    key = definition.key if definition else ()
    names = [str(fields[name]) for name in key if name not in ("system", "ts") and fields.get(name)]
    return " ".join([dataset, *names])


def _reject(detail: str, fields: Row, none_kept: bool, line: int) -> Reject:
    kept: Literal["none", "part"] = "none" if none_kept else "part"
    return Reject(Reason.OUT_OF_RANGE, detail, kept, line, system=fields.get("system"), ts=fields.get("ts"))
