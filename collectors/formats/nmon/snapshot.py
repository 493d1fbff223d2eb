"""One snapshot: its rows, assembled into records when it is whole."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from counterflow.collectors.formats.nmon import semantics
from counterflow.collectors.formats.nmon.disks import disk_columns, reads_that_differ
from counterflow.collectors.formats.nmon.headers import Cell, Headers
from counterflow.collectors.formats.nmon.plan import Columns, Plans, flat
from counterflow.collectors.formats.nmon.rows import Row, Values, amounts
from counterflow.collectors.records import Fields, Record, Table
from counterflow.collectors.text import stamps

_MODES = ("user", "sys", "wait", "idle")


@dataclass(slots=True)
class Process:
    """One row of TOP: its texts, and its values with their measures."""

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


@dataclass(frozen=True, slots=True)
class Run:
    """What all records of one run of a recorder share."""

    system: str
    boot_id: str | None

    def envelope(self, instant: datetime, seconds: float | None) -> Fields:
        fields: Fields = {"ts": stamps.iso(instant)}
        if seconds is not None:
            fields["interval_s"] = seconds
        fields["system"] = self.system
        fields["source"] = "nmon"
        if self.boot_id is not None:
            fields["boot_id"] = self.boot_id
        return fields


def items(
    snapshot: Snapshot, headers: Headers, plans: Plans, run: Run, *, processes_recorded: bool
) -> list[Record | Table]:
    """Return the content of a snapshot, and the manifest rows that count it by dataset."""
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
    found = (Table(dataset, envelope, columns) for dataset, columns in _measured(snapshot, headers, plans))
    tables = [table for table in found if table.rows]
    rows: Counter[str] = Counter()
    for table in tables:
        rows[table.dataset] += table.rows
    if processes_recorded and snapshot.number > 1:
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
    counters = snapshot.counters + [one for sections in disks.values() for one in reads_that_differ(sections)]
    counters += _finish_engines(tables["system_cpu"], headers)
    yield "system_cpu", tables["system_cpu"]
    yield "pool", tables["pool"]
    yield "disk", disk_columns(disks, headers, seconds)
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
