"""`sadf -j`: what sar recorded on Linux, as JSON; whole documents, one behind the other.

Names and units are those of sysstat's json_stats.c (github.com/sysstat/sysstat): rates are per second of the interval,
memory is in KB of 1,024 bytes, a sector has 512 bytes.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from typing import Any, BinaryIO

from counterflow.collectors.formats.sysstat.broken_json import repaired
from counterflow.collectors.records import Context, Fields, Item, Position, Reason, Record, Reject, Unusable
from counterflow.collectors.text.device_names import NUMBERED, Device, devices, numbered
from counterflow.collectors.text.documents import Documents, read_items
from counterflow.collectors.text.periods import LONGEST_S, gap, is_gap
from counterflow.collectors.text.placing import Placed, in_one_second
from counterflow.collectors.text.settings import changes
from counterflow.collectors.text.spans import Samples, Spans
from counterflow.collectors.text.stamps import iso, stated
from counterflow.collectors.text.trees import mapping, mappings, number
from counterflow.schemas.mapping import amounts, counters

SOURCE = "sysstat"

CPU = {
    "user_pct": ("user", "usr", "nice", "guest", "gnice"),
    "sys_pct": ("system", "sys", "irq", "soft"),
    "wait_pct": ("iowait",),
    "steal_pct": ("steal",),
    "idle_pct": ("idle",),
}
"""Shares of a processor's whole time; `-u ALL` splits user and system into parts."""
_SECTORS = ("rd_sec", "wr_sec")
"""Rates of sectors, which are half a KB each."""
_MOST_SECTORS = 2e9
"""Above 1 TB a second is no rate of a disk."""
SETTINGS = ("sysname", "release", "machine", "number-of-cpus")

WRITTEN_BY = "sadf -j /var/log/sa/saDD -- -A"
_OF_ANOTHER_COMMAND = re.compile(rb'\{\s*"sysstat"\s*:(?![^\0]*"file-date")(?:(?!"statistics")[^\0])*?"date"\s*:')
"""iostat, mpstat and pidstat write `date` where sadf writes `file-date`."""
_IN_ANOTHER_UNIT = ("rkB", "wkB", "dkB", "avgrq-sz", "avgqu-sz")
"""Figures of a disk that repeat another one in a different unit."""
_LINK, _POOL = counters(SOURCE, "link"), counters(SOURCE, "pool")
_IN_COLUMNS = {
    "memory": {*_POOL, "swpused"},
    "paging": {*_POOL, "pgscank", "pgscand"},
    "swap-pages": _POOL,
    "disk": {*counters(SOURCE, "disk"), *_IN_ANOTHER_UNIT},
    "net-dev": _LINK,
    "net-edev": _LINK,
}
"""Figures that columns of datasets hold, by section; the other figures of the section are counters."""
_NOT_COUNTERS = ("timestamp", "cpu-load")
_OF_SECTIONS = ("network", "power-management", "psi")
"""Sections that hold sections."""
_MEANS = ("system_cpu", "counter")
"""Datasets whose figures are means or states: behind a gap they count for the usual interval."""
_NUMBERING = ("number", "line", "bus_number")
"""Numbers that name a row of a list: of a sensor, a serial line, a USB bus."""


@dataclass
class SysstatState:
    """State carried over from earlier documents: what was read and the settings of each host. JSON values."""

    seen: dict[str, Spans] = field(default_factory=dict)
    config: dict[str, dict[str, str]] = field(default_factory=dict)


def recognises(head: bytes) -> bool:
    begin = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    return _DOCUMENTS.start.match(begin) is not None and not _OF_ANOTHER_COMMAND.match(begin)


def parse(stream: BinaryIO, context: Context, position: Position | None = None) -> Iterator[Item]:
    """Yield the records of every sample; a document that is damaged becomes a reject, and the next is read."""
    return read_items(stream, position, context, _DOCUMENTS, SysstatState, _items)


def _repaired(text: str) -> tuple[Any, int, str]:
    """Return a document of a sadf that writes broken JSON, where it ends, and what was repaired.

    Raises
    ------
    ValueError : no repair fits.
    """
    try:
        tree, end, counts = repaired(text, _OF_SECTIONS)
    except (ValueError, RecursionError):
        detail = "it was cut, or a sadf before 11.4 wrote it broken: `LC_ALL=C sadf -j`, of a newer sysstat"
        raise ValueError(detail) from None
    kinds = ", ".join(f"{count} x {kind}" for kind, count in counts.items())
    return tree, end, f"this sadf wrote broken JSON, repaired: {kinds}; or write it with `LC_ALL=C` and a newer sadf"


_DOCUMENTS = Documents(re.compile(rb'\{\s{0,64}"sysstat"\s{0,64}:'), '{"sysstat": …}', repair=_repaired)


def _items(tree: Any, state: SysstatState, context: Context) -> Iterator[Item]:
    hosts = [host for host in mappings(mapping(mapping(tree).get("sysstat")).get("hosts")) if "statistics" in host]
    if not hosts:
        raise Unusable(Reason.NOT_THIS_FORMAT, f"expected hosts with statistics: {WRITTEN_BY}")
    for host in hosts:
        if "date" in host:
            raise Unusable(Reason.NOT_THIS_FORMAT, f"output of iostat, mpstat or pidstat: {WRITTEN_BY}")
        name = host.get("nodename")
        system = context.system or (name if isinstance(name, str) and name else None)
        if system is None:
            raise Unusable(Reason.BAD_HEADER, "expected nodename, or --system")
        yield from _host(host, system, state, context)


def _host(host: Mapping[str, Any], system: str, state: SysstatState, context: Context) -> Iterator[Item]:
    known = numbered(_moved(host))
    if known.inferred:
        shown = ", ".join(known.inferred[:3]) + (f" and {len(known.inferred) - 3} more" * (len(known.inferred) > 3))
        detail = (
            f"{shown}: whether a disk, a partition or a volume is known from their figures alone: sadf -j FILE -- -A -p"
        )
        yield Reject(Reason.INFERRED, detail, "all", system=system)
    samples, placed = Samples(state.seen.get(system, []), system), Placed()
    before: datetime | None = None
    usual_s: float | None = _first_usual(host)
    for sample in mappings(host["statistics"]):
        written = mapping(sample.get("timestamp"))
        stamp = f"{written.get('date')}T{written.get('time')}"
        instant = stated(stamp, _zone(written, context.zone), before)
        if instant is None:
            detail = f"expected timestamp with date and time, found {stamp if written else 'none':.60}"
            yield Reject(Reason.STAMP_INVALID if written else Reason.STAMP_MISSING, detail, "none", system=system)
            continue
        seconds = number(written.get("interval")) or 0.0
        if before is not None:
            if (apart := in_one_second(before, instant, 1, seconds or None)) is not None:
                instant = apart
                detail = "two stamps in one second: the sample is placed an interval later"
                yield Reject(Reason.INFERRED, detail, "all", system=system, ts=iso(instant))
            elif instant <= before:
                detail = f"the sample before is of {iso(before)}"
                yield Reject(Reason.CLOCK_CHANGE, detail, "all", system=system, ts=iso(instant))
        before, instant = instant, placed.place(instant, before)
        ts = iso(instant)
        if not samples.is_new(instant, max(seconds, 0.0)):
            continue
        envelope: Fields = {"ts": ts, "system": system, "source": SOURCE}
        settings = {name: str(host[name]) for name in SETTINGS if host.get(name) is not None}
        yield from changes(state.config.setdefault(system, {}), settings, envelope, "host", "")
        if seconds <= 0:
            stated_s = written.get("interval")
            detail = f"the sample states an interval of {stated_s} s: its rates cannot become amounts"
            yield Reject(Reason.EMPTY_SNAPSHOT, detail, "none", system=system, ts=ts)
            continue
        mean_s = seconds
        if usual_s is not None and seconds <= LONGEST_S and is_gap(seconds, usual_s):
            mean_s = usual_s
            detail = f"the sample states {gap(seconds, usual_s)}: means are taken as of {usual_s:g} s"
            yield Reject(Reason.SAMPLE_MISSING, detail, "all", system=system, ts=ts)
        usual_s = seconds if seconds <= LONGEST_S else usual_s
        rows: Counter[str] = Counter()
        for dataset, fields in _records(sample, seconds, host.get("number-of-cpus"), known.devices):
            rows[dataset] += 1
            yield Record(dataset, {**envelope, "interval_s": mean_s if dataset in _MEANS else seconds, **fields})
        for dataset, count in rows.items():
            counted = {"counted": dataset, "row_count": count}
            length_s = mean_s if dataset in _MEANS else seconds
            yield Record("manifest", {**envelope, "interval_s": length_s, **counted})
    for ts, detail in samples.gaps():
        yield Reject(Reason.SAMPLE_MISSING, detail, "all", system=system, ts=ts)
    state.seen[system] = samples.spans()
    if samples.repeated:
        yield Reject(Reason.DUPLICATE_ROW, f"{samples.repeated} samples that were read before", "none", system=system)


def _first_usual(host: Mapping[str, Any]) -> float | None:
    """Return the usual interval for the first sample: that of the second."""
    second = mapping((mappings(host["statistics"])[1:2] or [{}])[0])
    seconds = number(mapping(second.get("timestamp")).get("interval"))
    return seconds if seconds is not None and 0 < seconds <= LONGEST_S else None


def _zone(written: Mapping[str, Any], local: tzinfo) -> tzinfo:
    """Return the zone of a timestamp: UTC where it states that, as `utc` up to sysstat 12.6 and as `tz` later.

    Any other `tz` names standard time, GMT also British Summer Time, so it decides nothing.
    """
    return UTC if written.get("utc") == 1 or written.get("tz") == "UTC" else local


def _moved(host: Mapping[str, Any]) -> dict[str, tuple[float, ...]]:
    """Return the sectors that each device without a name moved, as far as its figures can be."""
    found: dict[str, list[float]] = {}
    for sample in mappings(host["statistics"]):
        for entry in mappings(sample.get("disk")):
            name = entry.get("disk-device")
            if isinstance(name, str) and NUMBERED.fullmatch(name):
                total = found.setdefault(name, [0.0] * len(_SECTORS))
                for at, sectors in enumerate(_SECTORS):
                    moved = number(entry.get(sectors))
                    if moved is not None and 0 <= moved < _MOST_SECTORS:
                        total[at] += moved
    return {name: tuple(total) for name, total in found.items()}


def _records(
    sample: Mapping[str, Any], seconds: float, processors: Any, known: Mapping[str, Device]
) -> Iterator[tuple[str, Fields]]:
    for entry in mappings(sample.get("cpu-load")):
        yield "system_cpu", _cpu(entry, processors)
    disks = {
        str(entry["disk-device"]): _figures(entry) for entry in mappings(sample.get("disk")) if "disk-device" in entry
    }
    kinds = {**devices(disks, "Linux", aliases=True), **known}
    for disk, figures in disks.items():
        kind = kinds[disk]
        fields: Fields = {"disk": disk, "device_type": kind.device_type, "leaf": kind.leaf}
        yield "disk", fields | amounts(SOURCE, "disk", figures, seconds)
    # where sadf forgets the brace of `network` once, it writes no `network` around the sections that follow
    network = {**sample, **mapping(sample.get("network"))}
    links: dict[str, dict[str, float]] = {}
    for entry in (*mappings(network.get("net-dev")), *mappings(network.get("net-edev"))):
        if isinstance(entry.get("iface"), str):
            links.setdefault(entry["iface"], {}).update(_figures(entry))
    for link, figures in links.items():
        yield "link", {"link": link, "link_type": "interface", **amounts(SOURCE, "link", figures, seconds)}
    memory = _figures(mapping(sample.get("memory")))
    rates = {**_figures(mapping(sample.get("paging"))), **_figures(mapping(sample.get("swap-pages")))}
    if memory or rates:
        pool: Fields = {"pool": "memory", **amounts(SOURCE, "pool", {**memory, **rates}, seconds)}
        if {"swpfree", "swpused"} <= memory.keys():
            pool["paging_space_mb"] = round((memory["swpfree"] + memory["swpused"]) / 1024, 3)
        if {"pgscank", "pgscand"} <= rates.keys():
            pool["page_scans"] = round((rates["pgscank"] + rates["pgscand"]) * seconds, 3)
        yield "pool", pool
    for section, content in sample.items():
        if section not in _NOT_COUNTERS:
            yield from _counters(section, content)


def _cpu(entry: Mapping[str, Any], processors: Any) -> Fields:
    name, figures = str(entry.get("cpu", "")), _figures(entry)
    fields: Fields = {"engine_type": "core", "engine": f"CPU{int(name) + 1:03}" if name.isdecimal() else name or "all"}
    for column, parts in CPU.items():
        if known := [figures[part] for part in parts if part in figures]:
            fields[column] = round(sum(known), 2)
            fields["cpu_base"] = "logical"
    if fields["engine"] == "all" and (engines := number(processors)) is not None:
        fields["logical_engines"] = engines
    return fields


def _counters(section: str, content: Any, instance: str = "") -> Iterator[tuple[str, Fields]]:
    """Yield the figures that no dataset models, at any depth; texts and numbering of a list's row name the instance."""
    if isinstance(content, list):
        for entry in mappings(content):
            names = [str(value) for name, value in entry.items() if isinstance(value, str) or name in _NUMBERING]
            figures = {name: value for name, value in entry.items() if name not in _NUMBERING}
            yield from _counters(section, figures, "/".join(names) or instance)
        return
    for name, value in mapping(content).items():
        if isinstance(value, dict | list):
            yield from _counters(name if section in _OF_SECTIONS else section, value, instance)
        elif name not in _IN_COLUMNS.get(section, ()) and (figure := number(value)) is not None:
            yield "counter", {"section": section, "instance": instance, "counter": name, "value": figure}


def _figures(entry: Mapping[str, Any]) -> dict[str, float]:
    return {name: figure for name, value in entry.items() if (figure := number(value)) is not None}
