"""One snapshot: its rows, assembled into records when it is whole."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from counterflow.collectors.formats.nmon import semantics
from counterflow.collectors.formats.nmon.disks import disk_columns, reads_that_differ
from counterflow.collectors.formats.nmon.headers import Cell, Headers
from counterflow.collectors.formats.nmon.rows import Row, Values, amount
from counterflow.collectors.records import Fields, Record, Table
from counterflow.collectors.text import stamps


@dataclass(slots=True)
class Process:
    """One row of TOP: its text, and its values beside what they measure."""

    text: dict[str, str]
    measures: Sequence[semantics.Measure | None]
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
    """The rows of one snapshot; number 0 is what comes before the first."""

    number: int
    tag: str
    instant: datetime | None
    seconds: float | None
    rows: dict[bytes, Row] = field(default_factory=dict)
    processes: dict[str, Process] = field(default_factory=dict)
    counters: list[tuple[Cell, float]] = field(default_factory=list)
    config: list[ConfigItem] = field(default_factory=list)

    @property
    def empty(self) -> bool:
        """Whether nothing was kept."""
        return not (self.rows or self.processes or self.counters or self.config)


@dataclass(frozen=True, slots=True)
class Run:
    """What all records of one run of a recorder share."""

    system: str
    boot_id: str | None

    def envelope(self, instant: datetime, seconds: float | None) -> Fields:
        """Return the fields that every record of a snapshot begins with."""
        fields: Fields = {"ts": stamps.iso(instant)}
        if seconds is not None:
            fields["interval_s"] = seconds
        fields["system"] = self.system
        fields["source"] = "nmon"
        if self.boot_id is not None:
            fields["boot_id"] = self.boot_id
        return fields


def items(snapshot: Snapshot, headers: Headers, run: Run, *, processes_recorded: bool) -> list[Record | Table]:
    """Return what a snapshot holds, and the manifest rows that count it by dataset."""
    if snapshot.instant is None:
        return []
    envelope = run.envelope(snapshot.instant, snapshot.seconds)
    without_interval = run.envelope(snapshot.instant, None)
    out: list[Record | Table] = [
        Record("config", {**without_interval, "section": c.section, "item": c.item, "name": c.name, "value": c.value})
        for c in snapshot.config
    ]
    if snapshot.number == 0:
        return out
    rows: Counter[str] = Counter()
    for item in _measured(snapshot, headers, envelope):
        rows[item.dataset] += item.rows
        out.append(item)
    if processes_recorded and snapshot.number > 1:
        rows.setdefault("job", 0)  # a snapshot without a process: that is known, not missing
    out += [Record("manifest", {**envelope, "counted": d, "row_count": count}) for d, count in rows.items()]
    return out


def _measured(snapshot: Snapshot, headers: Headers, envelope: Fields) -> Iterator[Record | Table]:
    """Yield the rows of every dataset."""
    seconds = snapshot.seconds
    keyed: dict[str, dict[tuple[str, ...], Fields]] = {"system_cpu": {}, "pool": {}, "link": {}}
    counters = [_counter(envelope, cell, value) for cell, value in snapshot.counters]
    disks: dict[int, dict[str, Row]] = {}
    if (partition := snapshot.rows.pop(b"LPAR", None)) is not None:
        snapshot.rows[b"LPAR"] = partition  # last, so that its figures stand, in whatever order the rows came
    for row in snapshot.rows.values():
        layout, values, _ = row
        if layout.group >= 0:
            disks.setdefault(layout.group, {})[layout.section] = row
            continue
        for cell, value in zip(layout.cells, values, strict=False):
            if cell is None or value is None:
                continue
            dataset, key, column, factor, rate, _ = cell
            if dataset == "counter":
                counters.append(_counter(envelope, cell, value))
            elif (figure := _figure(value, factor, rate, seconds)) is not None:
                keyed[dataset].setdefault(key, {})[column] = figure
    counters += [_counter(envelope, cell, value) for row in disks.values() for cell, value in reads_that_differ(row)]
    _finish_all_engines(keyed["system_cpu"], snapshot, headers, envelope, counters)
    for key, fields in keyed["system_cpu"].items():
        yield Record("system_cpu", {**envelope, "engine_type": key[0], "engine": key[1], **fields})
    for key, fields in keyed["pool"].items():
        yield Record("pool", {**envelope, "pool": key[0], **fields})
    table = Table("disk", envelope, disk_columns(disks, headers, seconds))
    if table.rows:
        yield table
    for key, fields in keyed["link"].items():
        yield Record("link", {**envelope, "link_type": key[0], "link": key[1], **fields})
    for job, process in snapshot.processes.items():
        yield Record("job", _job(job, process, headers.system, envelope, seconds))
    for counter in counters:
        yield Record("counter", counter)


def _figure(value: float, factor: float, rate: bool, seconds: float | None) -> float | None:
    if not rate and factor == 1.0:
        return value
    if rate:
        return None if seconds is None else amount(value, factor * seconds)
    return amount(value, factor)


def _counter(envelope: Fields, cell: Cell, value: float) -> Fields:
    section, instance = cell.key
    fields = {**envelope, "section": section, "instance": instance, "counter": cell.column, "value": value}
    unit, kind = cell.unit
    if unit is not None:
        fields["unit"] = unit
    if kind is not None:
        fields["kind"] = kind
    return fields


def _finish_all_engines(
    engines: dict[tuple[str, ...], Fields],
    snapshot: Snapshot,
    headers: Headers,
    envelope: Fields,
    counters: list[Fields],
) -> None:
    """Set the base of the percentages, and what the partition consumed where LPAR does not."""
    for key, fields in engines.items():
        if "user_pct" in fields or "idle_pct" in fields:
            fields["cpu_base"] = "floating" if key[1] == "all" and headers.is_partition else "logical"
        modes = [fields.get(f"physical_{mode}_cores") for mode in ("user", "sys", "wait", "idle")]
        if "physical_consumed_cores" not in fields and None not in modes:
            fields["physical_consumed_cores"] = round(sum(m for m in modes if m is not None), 3)
    everything = engines.get(("core", "all"))
    if headers.system == "AIX" and everything is not None and everything.get("pool_idle_cores") == 0:
        # also written where the partition may not see its pool: the figure is kept, the claim is not made
        cell = Cell("counter", ("LPAR", ""), "PoolIdle", unit=semantics.CORES)
        counters.append(_counter(envelope, cell, everything.pop("pool_idle_cores")))


def _job(job: str, process: Process, system: str, envelope: Fields, seconds: float | None) -> Fields:
    fields = {**envelope, "job": job, **process.text}
    for measure, value in zip(process.measures, process.values, strict=True):
        if measure is None or value is None:
            continue
        column, factor, rate = measure
        if (figure := _figure(value, factor, rate, seconds)) is not None:
            fields[column] = figure
    if "cpu_ms" in fields:
        fields["cpu_base"] = semantics.CPU_BASE[system]
    return fields
