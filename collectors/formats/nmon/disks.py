"""Columns of `disk` from the sections of disks and disk groups, whose rows are columns already."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, repeat
from typing import Any

from counterflow.collectors.formats.nmon import semantics
from counterflow.collectors.formats.nmon.headers import Cell, Headers
from counterflow.collectors.formats.nmon.rows import Row, Values, amounts

Sections = Mapping[str, Row]
"""The rows of the sections that list the same devices in the same order."""


def disk_columns(groups: Mapping[int, Sections], headers: Headers, seconds: float | None) -> dict[str, Sequence[Any]]:
    """Return the columns of `disk` of one snapshot; none where no section of disks has a row."""
    if not groups:
        return {}
    layouts = [next(iter(sections.values())).layout for sections in groups.values()]
    devices = headers.devices(layouts)
    batches = [_columns(sections, headers, seconds) for sections in groups.values()]
    measured = _below(batches, [len(layout.names) for layout in layouts])
    columns = {"disk": devices.names, "device_type": devices.types, "leaf": devices.leaves, **measured}
    return columns if devices.distinct else _merged(columns)


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
            columns[measure.column] = amounts(row.values, seconds * measure.factor, gaps=row.gaps)
    _without_means_of_nothing(columns)
    return columns


def _means(sums: Row, rates: Row | None, seconds: float) -> Values:
    if rates is None or not seconds:
        return [None] * len(sums.values)
    both = zip(sums.values, rates.values, strict=True)
    return [round(s / (n * seconds), 4) if s is not None and n else None for s, n in both]


def _without_means_of_nothing(columns: dict[str, Values]) -> None:
    for number, means in semantics.MEANS_OF.items():
        idle = [at for at, found in enumerate(columns.get(number, ())) if not found]
        for mean in means if idle else ():
            if mean in columns:
                values = [*columns[mean]]
                for at in idle:
                    values[at] = values[at] or None
                columns[mean] = values


def _below(batches: Sequence[Mapping[str, Values]], counts: Sequence[int]) -> dict[str, Values]:
    """Return batches of columns as one, with None where a batch lacks a column."""
    if len(batches) == 1:
        return dict(batches[0])
    names = dict.fromkeys(chain.from_iterable(batches))
    both = list(zip(batches, counts, strict=True))
    return {
        name: list(chain.from_iterable(batch.get(name) or repeat(None, count) for batch, count in both))
        for name in names
    }


def _merged(columns: Mapping[str, Sequence[Any]]) -> dict[str, Sequence[Any]]:
    """Return one row per device where sections list the same devices in different orders; the last value stands."""
    places: dict[str, list[int]] = {}
    for at, name in enumerate(columns["disk"]):
        places.setdefault(name, []).insert(0, at)
    return {
        column: [next((v for at in found if (v := values[at]) is not None), None) for found in places.values()]
        for column, values in columns.items()
    }
