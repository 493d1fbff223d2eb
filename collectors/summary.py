"""One screen of figures for each system in a recording.

Averages are weighted by time, sum(value x interval) / sum(interval), over the snapshots that have the value; those of
processors omit the first snapshot where `left_out` returns it. Totals count leaf disks only. The
formulas are those of docs/kpis/processors.md.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from counterflow.collectors.records import Item, Record, Reject, Table

TOP_COMMANDS = 10

Instant = TypeVar("Instant", str, float)


@dataclass(slots=True)
class Weighted:
    """A time-weighted mean with its maximum."""

    total: float = 0.0
    seconds: float = 0.0
    maximum: float | None = None

    def add(self, value: float | None, seconds: float | None) -> None:
        """Count `value` for `seconds`; a missing value or length is not counted."""
        if value is None or not seconds:
            return
        self.total += value * seconds
        self.seconds += seconds
        self.maximum = value if self.maximum is None else max(self.maximum, value)

    @property
    def mean(self) -> float | None:
        """Mean over the counted time, or None where nothing was counted."""
        return self.total / self.seconds if self.seconds else None


@dataclass(slots=True)
class Summaries:
    """Accumulates the items of one file by system.

    An anomaly without a system counts for the only system of the file. Where a file has several systems or none, such
    anomalies have a summary of their own, without a system.
    """

    file: str
    _found: dict[str | None, Summary] = field(default_factory=dict)

    def add(self, item: Item) -> None:
        if isinstance(item, Record):
            self._for(item.fields.get("system")).add_record(item)
        elif isinstance(item, Table):
            self._for(item.shared.get("system")).add_table(item)
        elif isinstance(item, Reject):
            self._for(item.system).quality[item.reason.value] += 1

    @property
    def of(self) -> list[Summary]:
        """One summary per system, in the file's order."""
        systems = [summary for system, summary in self._found.items() if system is not None]
        unnamed = self._found.get(None)
        if unnamed is None or (len(systems) == 1 and not unnamed.records):
            if unnamed is not None:
                systems[0].quality += self._found.pop(None).quality
            return systems
        return [*systems, unnamed]

    def _for(self, system: str | None) -> Summary:
        if system not in self._found:
            self._found[system] = Summary(self.file, system)
        return self._found[system]


@dataclass(slots=True)
class Summary:
    """Accumulates the records of one system: an entry per command, interface, instant, its memory pools, and reason."""

    file: str
    system: str | None = None
    os: str | None = None
    instants: set[str] = field(default_factory=set)
    cpu_base: str | None = None
    cpu_pct: Weighted = field(default_factory=Weighted)
    physical_cpu: Weighted = field(default_factory=Weighted)
    entitled_pct: Weighted = field(default_factory=Weighted)
    virtual_pct: Weighted = field(default_factory=Weighted)
    cpu_left_out: int = 0
    pools: dict[str, dict[str, dict[str, Any]]] = field(default_factory=lambda: defaultdict(dict))
    disk_read_kb: float | None = None
    disk_written_kb: float | None = None
    network_in_kb: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    network_out_kb: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    command_cpu_ms: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    quality: Counter[str] = field(default_factory=Counter)
    records: Counter[str] = field(default_factory=Counter)
    _first_cpu: dict[str, dict[str, Any] | None] = field(default_factory=dict)
    """The first row of each run of a recorder; None once it is counted or left out."""
    _first_processes: dict[str, str] = field(default_factory=dict)
    """The first snapshot with processes of each run of a recorder."""

    def add_record(self, record: Record) -> None:
        """Add one record; each but a setting belongs to an instant."""
        self.records[record.dataset] += 1
        if record.dataset != "config":
            self.instants.add(record.fields["ts"])
        handler = getattr(self, f"_{record.dataset}", None)
        if handler is not None:
            handler(record.fields)

    def add_table(self, table: Table) -> None:
        """Add the rows of a table; those that no figure is made of are counted."""
        if hasattr(self, f"_{table.dataset}"):
            for record in table.records():
                self.add_record(record)
        elif table.rows:
            self.records[table.dataset] += table.rows
            self.instants.add(table.shared["ts"])

    def _config(self, row: dict[str, Any]) -> None:
        if self.os is None and row["section"] == "AAA":
            if row["name"] in ("AIX", "VIOS"):
                self.os = f"{row['name']} {row['value']}"
            elif row["name"] == "OS":
                self.os = " ".join(row["value"].split(",")[:2])
        elif self.os is None and row["section"] == "os_release" and row["name"] == "pretty_name":
            self.os = f"Linux, {row['value']}"

    def _system_cpu(self, row: dict[str, Any]) -> None:
        if row["engine"] != "all" or row.get("engine_type") == "ziip":
            return
        if (recording := row.get("boot_id")) is not None and recording not in self._first_cpu:
            self._first_cpu[recording] = row
        else:
            self._add_cpu(row)

    def _manifest(self, row: dict[str, Any]) -> None:
        if row["counted"] == "job" and (recording := row.get("boot_id")) is not None:
            self._first_processes.setdefault(recording, row["ts"])

    def _settle(self) -> None:
        """Add the first row of each recording, or leave it out."""
        for recording, row in self._first_cpu.items():
            if row is None:
                continue
            self._first_cpu[recording] = None
            processes = self._first_processes.get(recording)
            if left_out([row["ts"]], [] if processes is None else [processes]) is None:
                self._add_cpu(row)
            else:
                self.cpu_left_out += 1

    def _add_cpu(self, row: dict[str, Any]) -> None:
        seconds = row.get("interval_s")
        user, sys, engines = row.get("user_pct"), row.get("sys_pct"), row.get("logical_engines")
        busy = row.get("busy_pct")
        if busy is None and user is not None and sys is not None:
            busy = user + sys
        self.cpu_pct.add(busy, seconds)
        self.cpu_base = row.get("cpu_base") or self.cpu_base
        consumed = row.get("physical_consumed_cores")
        if consumed is None and row.get("cpu_base") == "logical" and busy is not None and engines is not None:
            consumed = busy / 100 * engines
        self.physical_cpu.add(consumed, seconds)
        if consumed is not None:
            for share, of in ((self.entitled_pct, "entitled_cores"), (self.virtual_pct, "virtual_engines")):
                share.add(100 * consumed / row[of] if row.get(of) else None, seconds)

    def _pool(self, row: dict[str, Any]) -> None:
        self.pools[row["ts"]][row["pool"]] = {name: row.get(name) for name in ("size_mb", "free_mb", "interval_s")}

    def _disk(self, row: dict[str, Any]) -> None:
        if row["leaf"]:
            if (read := row.get("read_kb")) is not None:
                self.disk_read_kb = (self.disk_read_kb or 0.0) + read
            if (written := row.get("written_kb")) is not None:
                self.disk_written_kb = (self.disk_written_kb or 0.0) + written

    def _link(self, row: dict[str, Any]) -> None:
        if row["link_type"] == "interface" and row["link"] not in ("lo", "lo0"):
            for totals, column in ((self.network_in_kb, "in_kb"), (self.network_out_kb, "out_kb")):
                if (kb := row.get(column)) is not None:
                    totals[row["link"]] += kb

    def _job(self, row: dict[str, Any]) -> None:
        if (cpu_ms := row.get("cpu_ms")) is not None:
            self.command_cpu_ms[row["command"]] += cpu_ms

    @property
    def memory_mb(self) -> float | None:
        """Size of all pools at the last instant that has it, or None."""
        sizes = (_sum(row["size_mb"] for row in self.pools[ts].values()) for ts in sorted(self.pools, reverse=True))
        return next((size for size in sizes if size is not None), None)

    @property
    def memory_used_mb(self) -> Weighted:
        """What is in use of all pools, of the instants that have it for each."""
        used = Weighted()
        for rows in self.pools.values():
            size, free = (_sum(row[name] for row in rows.values()) for name in ("size_mb", "free_mb"))
            if size is not None and free is not None:
                used.add(size - free, next(iter(rows.values()))["interval_s"])
        return used

    @property
    def cpu_max_to_avg(self) -> float | None:
        """Peak over mean of CPU busy, or None where the mean is 0 or unknown."""
        return self.cpu_pct.maximum / self.cpu_pct.mean if self.cpu_pct.maximum and self.cpu_pct.mean else None

    @property
    def warnings(self) -> list[str]:
        """What a reader must know before using the figures."""
        if self.cpu_base == "floating":
            return [
                "CPU % of this shared partition has a floating base, max(entitled, consumed): its average is not a "
                "utilisation. Use the physical CPU figures."
            ]
        return []

    def as_dict(self) -> dict[str, Any]:
        """Return the figures under the keys of `--json`; a figure whose input is missing is None."""
        self._settle()
        commands = sorted(self.command_cpu_ms.items(), key=lambda item: (-item[1], item[0]))[:TOP_COMMANDS]
        read, written, memory_used_mb = self.disk_read_kb, self.disk_written_kb, self.memory_used_mb
        return {
            "file": self.file,
            "system": self.system,
            "os": self.os,
            "start": min(self.instants, default=None),
            "end": max(self.instants, default=None),
            "snapshots": len(self.instants),
            "records": dict(sorted(self.records.items())),
            "cpu_pct_avg": _round(self.cpu_pct.mean),
            "cpu_pct_max": _round(self.cpu_pct.maximum),
            "cpu_max_to_avg": _round(self.cpu_max_to_avg),
            "cpu_base": self.cpu_base,
            "cpu_left_out": self.cpu_left_out,
            "physical_cpu_avg": _round(self.physical_cpu.mean),
            "physical_cpu_max": _round(self.physical_cpu.maximum),
            "entitled_pct_avg": _round(self.entitled_pct.mean),
            "virtual_pct_avg": _round(self.virtual_pct.mean),
            "memory_mb": _round(self.memory_mb),
            "memory_used_mb_avg": _round(memory_used_mb.mean),
            "memory_used_mb_max": _round(memory_used_mb.maximum),
            "disk_read_mb": _mb(read),
            "disk_written_mb": _mb(written),
            "disk_rw_ratio": _round(read / written if read is not None and written else None),
            "network": [
                {"link": link, "in_mb": _mb(self.network_in_kb.get(link)), "out_mb": _mb(self.network_out_kb.get(link))}
                for link in sorted({*self.network_in_kb, *self.network_out_kb})
            ],
            "top_commands": [{"command": command, "cpu_s": _round(ms / 1000)} for command, ms in commands],
            "quality": dict(sorted(self.quality.items())),
            "warnings": self.warnings,
        }


def _sum(values: Iterable[float | None]) -> float | None:
    """Return the sum, or None where a value is missing."""
    known = list(values)
    return None if None in known else sum(value for value in known if value is not None)


def _round(value: float | None) -> float | None:
    return None if value is None else round(value, 3)


def _mb(kb: float | None) -> float | None:
    return None if kb is None else round(kb / 1024, 3)


def left_out(snapshots: Iterable[Instant], with_processes: Collection[Instant]) -> Instant | None:
    """Return the first snapshot of a recording if it has no processes while others have, else None.

    nmon has nothing to compare the first processes with, so its first snapshot shows the system while the recorder
    starts. Without it, the means of processors cover the same time as those of the processes on them.
    """
    first = min(snapshots, default=None)
    return first if first is not None and with_processes and first not in with_processes else None
