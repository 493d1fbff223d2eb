"""Facts of a whole recording: the AAA facts and the header of every section, and the meaning they give each column."""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from functools import cached_property
from typing import Any, NamedTuple

from counterflow.collectors.formats.nmon import semantics
from counterflow.collectors.text import device_names as topology
from counterflow.collectors.text.dates import readings

_CONTINUED = re.compile(r"([A-Z]+)\d+")
_ENGINE = re.compile(r"(CPU|PCPU|SCPU)(\d+)")
_UTILISATION = re.compile(r"CPUUTIL(\d+)")
_PLACES = {"system_cpu": ("core", "all"), "pool": ("memory",)}
_PC = {0x84: "a", 0x8E: "A", 0x82: "e", 0x90: "E", 0x96: "u", 0xEA: "U"}
"""Accented letters of months in code page 850, as Latin-1 reads them; 0xEA is its U with a circumflex."""


class Cell(NamedTuple):
    """Where one column of a section goes: `column` of the row `key` of `dataset`, or a row of `counter`."""

    dataset: str
    key: tuple[str, ...]
    column: str
    factor: float = 1.0
    rate: bool = False
    unit: semantics.CounterUnit = semantics.UNKNOWN.other


@dataclass(frozen=True, slots=True)
class Layout:
    """How the values of a section's rows are read, by position in its header.

    `group` is not negative for sections of disks and groups of disks (`is_group`), whose rows become columns of `disk`:
    it numbers equal lists of devices. All others have `cells`; None is a column without a name or named twice.
    """

    section: str
    names: tuple[str, ...]
    cells: tuple[Cell | None, ...] = ()
    group: int = -1
    is_group: bool = False
    percentages: bool = False
    signed: bool = False
    ceiling: int | None = None
    grows: bool = False


class ProcessLayout(NamedTuple):
    """How a TOP row is read: the number of fields `before` and `after` its command, and their meaning.

    `numeric_after` and `text` name fields after the command by position; `names` and `measures` are those of all
    numeric fields in order; `unmeasured` are the fields that no column of `job` holds.
    """

    before: int
    after: int
    numeric_after: tuple[int, ...]
    text: tuple[tuple[int, str], ...]
    names: tuple[str, ...]
    measures: tuple[semantics.FilledMeasure | None, ...]
    unmeasured: tuple[tuple[int, str], ...]


def process_layout(names: tuple[str, ...], system: str) -> ProcessLayout:
    """Return the layout of TOP rows whose columns after process id and snapshot are `names`."""
    at = names.index("Command")
    tail = names[at + 1 :]
    numeric = tuple(n for n, name in enumerate(tail) if name not in semantics.TOP_TEXT)
    text = tuple((n, semantics.TOP_TEXT[name]) for n, name in enumerate(tail) if name in semantics.TOP_TEXT)
    columns = (*names[:at], *(tail[n] for n in numeric))
    measures = tuple(semantics.FILLED[system]["TOP"].measures.get(name) for name in columns)
    unmeasured = tuple((n, columns[n]) for n, measure in enumerate(measures) if measure is None)
    return ProcessLayout(at, len(tail), numeric, text, columns, measures, unmeasured)


class Devices(NamedTuple):
    """Name and type of every device of several lists, whether it is a leaf, and whether no name comes twice."""

    names: tuple[str, ...]
    types: tuple[str, ...]
    leaves: tuple[bool, ...]
    distinct: bool


def local_time(time: str, date: str) -> datetime | None:
    """Return the local time that AAA,time and AAA,date or a ZZZZ line state, or None where they are malformed."""
    found = {*readings(f"{date.strip()} {time.strip()}".translate(_PC)).values()}
    return found.pop() if len(found) == 1 else None


@dataclass(slots=True)
class Facts:
    """The AAA lines of one run of a recorder, each key with its first value."""

    values: dict[str, str] = field(default_factory=dict)

    @property
    def system(self) -> str | None:
        """Name of the system that was recorded."""
        return self.values.get("host") or self.values.get("NodeName") or None

    @property
    def os(self) -> str:
        """The system that defines the sections: AIX (VIOS too) or Linux."""
        values = self.values
        aix = (
            "AIX" in values or "VIOS" in values or values.get("build") == "AIX" or "topas" in values.get("progname", "")
        )
        return "AIX" if aix else "Linux"

    @property
    def seconds(self) -> float | None:
        """Nominal interval of the recording."""
        try:
            seconds = float(self.values["interval"])
        except (KeyError, ValueError):
            return None
        return seconds if 0 < seconds < 1e6 else None

    @property
    def snapshots(self) -> int | None:
        """Number of snapshots that the recorder was to take."""
        written = self.values.get("snapshots", "")
        return int(written) if written.isascii() and written.isdigit() and len(written) < 10 else None

    @property
    def release(self) -> str:
        """Release of the recorder, as 16n."""
        return self.values.get("version", "")

    def zone(self, configured: tzinfo) -> tzinfo:
        """Return the zone of the stamps: UTC where an AIX recorder was started with -G, else the configured one."""
        return UTC if "gmt" in self.values else configured

    def start(self) -> datetime | None:
        """Return the local time at which the recorder started."""
        return local_time(self.values.get("time", ""), self.values.get("date", ""))

    def boot_id(self) -> str | None:
        """Return the name of this run of the recorder: host and local start."""
        start = self.start()
        return f"{self.system}-{start:%Y%m%dT%H%M%S}" if self.system and start else None


@dataclass(slots=True)
class Header:
    title: str
    names: tuple[str, ...]


class Headers:
    """The headers in force, with their layouts; a repeated header replaces the former."""

    def __init__(self, facts: Facts, table: Mapping[str, Header] | None = None) -> None:
        self.system = facts.os
        self.group_times_per_second = semantics.group_times_per_second(facts.release)
        self.table: dict[str, Header] = dict(table or {})
        self.changes = 0
        self._layouts: dict[str, Layout] = {}
        self._groups: dict[tuple[str, ...], int] = {}
        self._devices: dict[tuple[int, ...], Devices] = {}

    def __contains__(self, section: str) -> bool:
        return section in self.table

    def set(self, section: str, title: str, names: Iterable[str]) -> None:
        self.table[section] = Header(title, tuple(names))
        self.changes += 1
        self._layouts.clear()
        self._devices.clear()
        for derived in ("topology", "is_partition"):
            self.__dict__.pop(derived, None)

    def layout(self, section: str) -> Layout | None:
        """Return the layout of a section's rows, or None where it has no header."""
        found = self._layouts.get(section)
        if found is None and (header := self.table.get(section)) is not None:
            found = self._layouts[section] = self._compile(section, header)
        return found

    @cached_property
    def topology(self) -> dict[str, topology.Device]:
        """What each device of the DISK sections is."""
        names = {
            name
            for section, header in self.table.items()
            if section.startswith("DISK")
            for name in header.names
            if name
        }
        return topology.devices(names, self.system)

    def devices(self, layouts: Sequence[Layout]) -> Devices:
        """Return the devices of the layouts, one list after the other.

        A group with the name of a device is called `group:<name>`, so that it does not replace the device.
        """
        key = tuple(layout.group for layout in layouts)
        found = self._devices.get(key)
        if found is None:
            described = [one for layout in layouts for one in self._described(layout)]
            names, types, leaves = zip(*described, strict=True) if described else ((), (), ())
            found = self._devices[key] = Devices(names, types, leaves, len(set(names)) == len(names))
        return found

    def _described(self, layout: Layout) -> list[tuple[str, str, bool]]:
        known = self.topology
        if layout.is_group:
            return [(f"group:{name}" if name in known else name, "group", False) for name in layout.names]
        if not known.keys() >= set(layout.names):  # the header of an earlier row was replaced since
            known = topology.devices({*known, *layout.names}, self.system)
        return [(name, known[name].device_type, known[name].leaf) for name in layout.names]

    @cached_property
    def is_partition(self) -> bool:
        """Whether the recording has the counters of an AIX partition: its CPU percentages have a floating base."""
        return self.system == "AIX" and ("PCPU_ALL" in self.table or "LPAR" in self.table)

    def base(self, section: str) -> str:
        """Return the section without the number of a continuation.

        A section is a continuation where the one without digits has the same title: DISKREAD1, not CPU001 or NFSCLIV2.
        """
        match = _CONTINUED.fullmatch(section)
        if match is None:
            return section
        first = self.table.get(match[1])
        if first is None:  # its first part is lost, but nothing else has this name
            return match[1] if match[1] in semantics.DISKS else section
        return match[1] if first.title == self.table[section].title else section

    def _compile(self, section: str, header: Header) -> Layout:
        base, names = self.base(section), header.names
        filled = semantics.FILLED[self.system]
        if match := _ENGINE.fullmatch(base):
            measures, key = filled[f"{match[1]}nnn"].measures, ("core", f"CPU{int(match[2]):03d}")
            cells = [self._measured("system_cpu", key, measures.get(name), base, name) for name in names]
            return Layout(base, names, _unique(cells), percentages=match[1] == "CPU")
        is_group = base.startswith("DG")
        is_known = not (base in semantics.GROUP_TIMES and self.group_times_per_second is None)
        is_disk = (base in semantics.DISKS and is_known) or base == semantics.READS_AGAIN
        if is_disk and len(set(names)) == len(names) and all(names):
            # a group may have the name of a disk: their lists stay apart
            group = self._groups.setdefault((*names, "DG"[: 2 * is_group]), len(self._groups))
            return Layout(base, names, group=group, is_group=is_group)
        if base in semantics.LINKS:
            return Layout(base, names, _unique([self._link(base, name, filled[base].measures) for name in names]))
        if match := _UTILISATION.fullmatch(base):
            instance = f"CPU{int(match[1]):03d}"
            return Layout("CPUUTIL", names, _unique([self._counter("CPUUTIL", name, instance) for name in names]))
        if base in filled and (place := _PLACES.get(filled[base].dataset)):
            dataset, measures = filled[base]
            cells = [self._measured(dataset, place, measures.get(name), base, name) for name in names]
            return Layout(base, names, _unique(cells), percentages=base == "CPU_ALL")
        family = semantics.family(self.system, base)
        return Layout(
            base,
            names,
            _unique([self._counter(base, name) for name in names]),
            signed=family.signed,
            ceiling=family.ceiling,
            grows=base in ("JFSFILE", "JFSINODE"),
        )

    def _measured(
        self, dataset: str, key: tuple[str, ...], measure: semantics.FilledMeasure | None, section: str, name: str
    ) -> Cell:
        if measure is None:
            return self._counter(section, name, key[1] if dataset == "system_cpu" and key[1] != "all" else "")
        return Cell(dataset, key, *measure)

    def _link(self, section: str, name: str, measures: Mapping[str, semantics.FilledMeasure]) -> Cell:
        link_type, split = semantics.LINKS[section]
        if split is None:
            return Cell("link", (link_type, name), *measures[""])
        match = split.fullmatch(name)
        if match is None:
            return self._counter(section, name)
        measure = measures.get(match[2])
        if measure is None:
            return Cell(
                "counter", (section, match[1]), match[2], unit=semantics.unit_of(self.system, section, match[2])
            )
        return Cell("link", (link_type, match[1]), *measure)

    def _counter(self, section: str, name: str, instance: str = "") -> Cell:
        family = semantics.family(self.system, section)
        counter = name
        if family.counter is not None:
            instance, counter = name, family.counter
        elif family.split is not None and (match := family.split.fullmatch(name)):
            instance, counter = match[1], match[2]
        return Cell("counter", (section, instance), counter, unit=semantics.unit_of(self.system, section, counter))


def _unique(cells: list[Cell]) -> tuple[Cell | None, ...]:
    """Leave out the columns without a name, and those that repeat the place of an earlier column."""
    seen: set[tuple[str, tuple[str, ...], str]] = set()
    kept: list[Cell | None] = []
    for cell in cells:
        place = cell.dataset, cell.key, cell.column
        named = cell.column if cell.dataset == "counter" else cell.key[-1]
        kept.append(cell if named and place not in seen else None)
        seen.add(place)
    return tuple(kept)


def pack(facts: Facts, headers: Headers) -> str:
    """Return facts and headers as text, small enough to be written with every commit."""
    lists: dict[tuple[str, ...], int] = {}
    table = [
        [section, header.title, lists.setdefault(header.names, len(lists))] for section, header in headers.table.items()
    ]
    content = {"facts": facts.values, "lists": list(lists), "headers": table}
    return base64.b64encode(zlib.compress(json.dumps(content).encode(), 6)).decode()


def unpack(text: str) -> tuple[Facts, Headers]:
    content: dict[str, Any] = json.loads(zlib.decompress(base64.b64decode(text)))
    facts = Facts(content["facts"])
    headers = Headers(facts)
    lists = [tuple(names) for names in content["lists"]]
    for section, title, names in content["headers"]:
        headers.set(section, title, lists[names])
    return facts, headers
