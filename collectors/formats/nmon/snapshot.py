"""One snapshot: its rows, assembled into records when it is whole.

A line stays a column up to the frame. What is left is a number of Python for every figure, 1.4 of 3.4 ms of a snapshot
of 1,200 disks; a native scanner would have to lead from the bytes of the lines to those of the frame.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import chain, repeat
from typing import Any

from counterflow.collectors.formats.nmon import semantics
from counterflow.collectors.formats.nmon.headers import Cell, Headers
from counterflow.collectors.formats.nmon.rows import Columns, Plans, Row, Values, amounts, flat
from counterflow.collectors.records import Fields, Record, Table
from counterflow.collectors.text import stamps

Sections = Mapping[str, Row]
"""The rows of the sections that list the same devices in the same order."""

_MODES = ("user", "sys", "wait", "idle")


@dataclass(slots=True)
class Process:
    """One row of TOP: its texts, and its values with their measures."""

    text: dict[str, str]
    measures: Sequence[semantics.FilledMeasure | None]
    values: Values


@dataclass(slots=True)
class ConfigItem:
    """One line or field of configuration."""

    section: str
    item: str
    name: str
    value: str


@dataclass(slots=True)
class Snapshot:
    """The rows of one snapshot; number 0 holds the lines before the first.

    `gap_s` is the time since the snapshot before where that is a gap, else None.
    """

    number: int
    tag: str
    instant: datetime | None
    seconds: float | None
    gap_s: float | None = None
    rows: dict[bytes, Row] = field(default_factory=dict)
    processes: dict[str, Process] = field(default_factory=dict)
    counters: list[tuple[Cell, float]] = field(default_factory=list)
    config: list[ConfigItem] = field(default_factory=list)

    @property
    def empty(self) -> bool:
        return not (self.rows or self.processes or self.counters or self.config)


def items(snapshot: Snapshot, headers: Headers, plans: Plans, system: str, run_id: str | None) -> list[Record | Table]:
    """Return the content of a snapshot, and the manifest rows that count it by dataset."""
    if snapshot.instant is None:
        return []
    known = {"ts": stamps.iso(snapshot.instant), "interval_s": snapshot.seconds}
    known |= {"system": system, "source": "nmon", "boot_id": run_id}
    envelope: Fields = {name: value for name, value in known.items() if value is not None}
    without_interval = {name: value for name, value in envelope.items() if name != "interval_s"}
    out: list[Record | Table] = [
        Record("config", {**without_interval, "section": c.section, "item": c.item, "name": c.name, "value": c.value})
        for c in snapshot.config
    ]
    if snapshot.number == 0:
        return out
    found = (Table(dataset, envelope, columns) for dataset, columns in _measured(snapshot, headers, plans))
    tables = [table for table in found if table.rows]
    rows: Counter[str] = Counter()
    for table in tables:
        rows[table.dataset] += table.rows
    if "TOP" in headers and snapshot.number > 1:
        rows.setdefault("job", 0)  # a snapshot without a process is a known fact, not a gap
    manifests = [Record("manifest", {**envelope, "counted": d, "row_count": count}) for d, count in rows.items()]
    return [*out, *tables, *manifests]


def _measured(snapshot: Snapshot, headers: Headers, plans: Plans) -> Iterator[tuple[str, Columns]]:
    seconds = snapshot.seconds
    rows: list[Row] = []
    disks: dict[int, dict[str, Row]] = {}
    if (partition := snapshot.rows.pop(b"LPAR", None)) is not None:
        snapshot.rows[b"LPAR"] = partition  # last, so that its figures take precedence, whatever the order of the rows
    for row in snapshot.rows.values():
        layout = row.layout
        if layout.group < 0:
            rows.append(row)
        else:
            disks.setdefault(layout.group, {})[layout.section] = row
    plan = plans.of([row.layout for row in rows])
    values = flat(rows)
    tables = plan.tables(values, seconds)
    counters = snapshot.counters + [one for sections in disks.values() for one in _reads_that_differ(sections)]
    counters += _finish_engines(tables["system_cpu"], headers)
    yield "system_cpu", tables["system_cpu"]
    yield "pool", tables["pool"]
    yield "disk", _disks(disks, headers, seconds)
    yield "link", tables["link"]
    yield from (("job", columns) for columns in _jobs(snapshot.processes, headers.system, seconds))
    yield "counter", plan.counters(values, counters)


def _finish_engines(engines: Columns, headers: Headers) -> Iterator[tuple[Cell, float]]:
    """Set the base of percentages, and the cores consumed where LPAR has none; yield a PoolIdle of 0 as counter."""
    if not engines:
        return
    names = engines["engine"]
    missing = [None] * len(names)
    both = zip(names, engines.get("user_pct", missing), engines.get("idle_pct", missing), strict=True)
    all_base = "floating" if headers.is_partition else "logical"
    bases = [None if user is idle is None else all_base if e == "all" else "logical" for e, user, idle in both]
    consumed = engines.pop("physical_consumed_cores", missing)
    modes = zip(*(engines.get(f"physical_{mode}_cores", missing) for mode in _MODES), strict=True)
    sums = [
        round(sum(row), 3) if figure is None and None not in row else figure
        for figure, row in zip(consumed, modes, strict=True)
    ]
    engines |= {"cpu_base": bases, "physical_consumed_cores": sums}
    idle = engines.get("pool_idle_cores")
    if headers.system == "AIX" and idle is not None and 0 in idle:
        # 0 is also written where the partition may not see its pool: the counter keeps it, the column is null
        engines["pool_idle_cores"] = [figure or None for figure in idle]
        yield Cell("counter", ("LPAR", ""), "PoolIdle", unit=semantics.CORES), idle[idle.index(0)]


def _jobs(processes: Mapping[str, Process], system: str, seconds: float | None) -> Iterator[Columns]:
    """Yield the columns of processes, grouped by the header of their rows."""
    by_header: dict[int, dict[str, Process]] = {}
    for job, process in processes.items():
        by_header.setdefault(id(process.measures), {})[job] = process
    for found in by_header.values():
        first = next(iter(found.values()))
        columns: Columns = {"job": list(found)}
        columns |= {name: [process.text[name] for process in found.values()] for name in first.text}
        values = zip(*(process.values for process in found.values()), strict=True)
        for measure, figures in zip(first.measures, values, strict=True):
            if measure is None or (measure.rate and seconds is None):
                continue
            factor = measure.factor * (seconds or 0.0) if measure.rate else measure.factor
            scaled = measure.rate or factor != 1.0
            columns[measure.column] = amounts(figures, factor) if scaled else figures
        if "cpu_ms" in columns:
            base = semantics.CPU_BASE[system]
            columns["cpu_base"] = [None if used is None else base for used in columns["cpu_ms"]]
        yield columns


# disks and groups of disks: the rows of their sections are columns of `disk` already


def _disks(groups: Mapping[int, Sections], headers: Headers, seconds: float | None) -> dict[str, Sequence[Any]]:
    """Return the columns of `disk` of one snapshot; none where no section of disks has a row."""
    if not groups:
        return {}
    layouts = [next(iter(sections.values())).layout for sections in groups.values()]
    devices = headers.devices(layouts)
    batches = [_of_disks(sections, headers, seconds) for sections in groups.values()]
    measured = _below(batches, [len(layout.names) for layout in layouts])
    columns = {"disk": devices.names, "device_type": devices.types, "leaf": devices.leaves, **measured}
    return columns if devices.distinct else _merged(columns)


def _reads_that_differ(sections: Sections) -> Iterator[tuple[Cell, float]]:
    """Yield DISKRXFER where DISKRIO, which should be the same, differs."""
    again, reads = sections.get(semantics.READS_AGAIN), sections.get("DISKRIO")
    if again is None or reads is None or again.values == reads.values:
        return
    for device, value, first in zip(again.layout.names, again.values, reads.values, strict=True):
        if value is not None and value != first:
            yield Cell("counter", (semantics.READS_AGAIN, device), "reads", unit=semantics.PER_S), value


def _of_disks(sections: Sections, headers: Headers, seconds: float | None) -> dict[str, Values]:
    columns: dict[str, Values] = {}
    for section, row in sections.items():
        if section == semantics.READS_AGAIN:
            if "DISKRIO" in sections:
                continue
            section = "DISKRIO"
        measure = semantics.DISKS[section]
        per_interval = section in semantics.GROUP_TIMES and not headers.group_times_per_second
        if (number := semantics.GROUP_SUMS.get(section)) is not None:
            over = (seconds or 0.0) if per_interval else 1.0
            columns[measure.column] = _means(row, sections.get(number), over)
        elif not measure.rate or per_interval:
            columns[measure.column] = row.values
        elif seconds is not None:
            columns[measure.column] = amounts(row.values, seconds * measure.factor)
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
