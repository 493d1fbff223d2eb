"""Rows of `disk` from the sections of disks and disk groups: thousands a snapshot, so whole columns at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from itertools import chain, compress
from operator import not_
from typing import Any

from counterflow.collectors.formats.nmon import semantics
from counterflow.collectors.formats.nmon.headers import Cell, Headers
from counterflow.collectors.formats.nmon.rows import Row, Values, amounts
from counterflow.collectors.records import Fields

Sections = Mapping[str, Row]
"""The rows of the sections that list the same devices in the same order."""


def disk_rows(
    groups: Mapping[int, Sections], headers: Headers, envelope: Fields, seconds: float | None
) -> list[Fields]:
    """Return the rows of `disk` of one snapshot."""
    batches = []
    for sections in groups.values():
        layout = next(iter(sections.values())).layout
        names, types, leaves = headers.described(layout)
        columns = _columns(sections, headers, seconds)
        gaps = any(row.gaps for row in sections.values()) or layout.is_group
        batches.append(_table(envelope, {"disk": names, "device_type": types, "leaf": leaves, **columns}, gaps))
    rows = list(chain.from_iterable(batches))
    if headers.disjoint(frozenset(groups)):
        return rows
    merged: dict[str, Fields] = {}
    for fields in rows:  # the sections list the same devices in different orders
        merged.setdefault(fields["disk"], {}).update(fields)
    return list(merged.values())


def reads_that_differ(sections: Sections) -> Iterator[tuple[Cell, float]]:
    """Yield DISKRXFER where DISKRIO, which should be the same, differs."""
    again, reads = sections.get(semantics.READS_AGAIN), sections.get("DISKRIO")
    if again is None or reads is None or again.values == reads.values:
        return
    for device, value, first in zip(again.layout.names, again.values, reads.values, strict=True):
        if value is not None and value != first:
            yield Cell("counter", (semantics.READS_AGAIN, device), "reads", unit=semantics.PER_S), value


def _columns(sections: Sections, headers: Headers, seconds: float | None) -> dict[str, Values]:
    columns: dict[str, Values] = {}
    for section, row in sections.items():
        if section == semantics.READS_AGAIN:
            if "DISKRIO" in sections:
                continue
            section = "DISKRIO"
        measure = semantics.DISK.get(section) or semantics.GROUP[section]
        per_interval = section in semantics.GROUP_TIMES and not headers.group_times_per_second
        if (number := semantics.GROUP_SUMS.get(section)) is not None:
            over = (seconds or 0.0) if per_interval else 1.0
            columns[measure.column] = _means(row, sections.get(number), over)
        elif not measure.rate or per_interval:
            columns[measure.column] = row.values
        elif seconds is not None:
            columns[measure.column] = amounts(row, seconds * measure.factor)
    return columns


def _means(sums: Row, rates: Row | None, seconds: float) -> Values:
    if rates is None or not seconds:
        return [None] * len(sums.values)
    both = zip(sums.values, rates.values, strict=True)
    return [round(s / (n * seconds), 4) if s is not None and n else None for s, n in both]


def _table(envelope: Fields, columns: Mapping[str, Sequence[Any]], gaps: bool) -> list[Fields]:
    """Return a row for every device, without what is missing."""
    means = [mean for group in semantics.MEANS_OF.values() for mean in group if mean in columns]
    idle = [not transfers for transfers in columns.get("transfers", ())]
    if not gaps and any(idle) and not any(any(compress(columns[mean], idle)) for mean in means):
        # most disks of most systems did nothing: their rows are made without means, not rid of them
        busy = [not i for i in idle]
        rows = _without_means_of_nothing(_make(envelope, columns, busy), columns, busy)
        counted = {name: column for name, column in columns.items() if name not in means}
        return rows + _make(envelope, counted, idle)
    every = [True] * len(columns["disk"])
    rows = _make(envelope, columns, every)
    if gaps:
        for column, values in columns.items():
            for fields in compress(rows, [value is None for value in values]):
                del fields[column]
    return _without_means_of_nothing(rows, columns, every)


def _without_means_of_nothing(
    rows: list[Fields], columns: Mapping[str, Sequence[Any]], chosen: Sequence[bool]
) -> list[Fields]:
    for number, means in semantics.MEANS_OF.items():
        present = [mean for mean in means if mean in columns]
        if present and number in columns:
            for fields in compress(rows, map(not_, compress(columns[number], chosen))):
                for mean in present:
                    if not fields.get(mean, True):
                        del fields[mean]
    return rows


def _make(envelope: Fields, columns: Mapping[str, Sequence[Any]], chosen: Sequence[bool]) -> list[Fields]:
    make = _maker(tuple(envelope), tuple(columns))
    return make(compress(zip(*columns.values(), strict=False), chosen), *envelope.values())


@cache
def _maker(shared: tuple[str, ...], own: tuple[str, ...]) -> Callable[..., list[Fields]]:
    """Return a function that makes a dict of every tuple: the values `own`, after those that all have, `shared`.

    It is compiled for them, as a dict display takes two thirds of the time of dict(zip(keys, row)), and most of the
    time of reading a large recording is spent here. The keys are column names, never data.
    """
    values, common = [f"v{n}" for n in range(len(own))], [f"c{n}" for n in range(len(shared))]
    pairs = ", ".join(f"{key!r}: {name}" for key, name in zip((*shared, *own), (*common, *values), strict=True))
    maker: Callable[..., list[Fields]]
    maker = eval(f"lambda rows, {', '.join(common)}: [{{{pairs}}} for {', '.join(values)} in rows]")  # noqa: S307
    return maker
