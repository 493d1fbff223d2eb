"""One sample as JSON, and the records it becomes."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime, tzinfo
from itertools import chain
from typing import Any

from counterflow.collectors.formats.njmon import semantics as key
from counterflow.collectors.formats.njmon.times import UnusableSampleError, restored, taken
from counterflow.collectors.records import Fields, Item, Reason, Record, Reject, Table
from counterflow.collectors.text.device_names import devices
from counterflow.collectors.text.stamps import iso
from counterflow.collectors.text.trees import encodable, number

Tree = dict[str, Any]
Leaf = tuple[str, str, Any]
"""The keys of the objects that hold a value, joined by points, its key, and the value."""

_NOT_FINITE = re.compile(r"(?<=:)(\s*)-?(?:nan|inf)(?=\s*[,}])", re.IGNORECASE)
_ENGINE = re.compile(r"cpu(\d+)")
_COUNT = re.compile(r"-?[0-9]+")
_AGAIN = re.compile(r"#\d+$")
_AIX_SECTIONS = {"lpar_format1", "cpu_logical_total"}
_AIX_DISK = re.compile(r"hdisk\d+")
_REBOOT_S = 60


@dataclass
class NjmonState:
    """State carried over from earlier samples: JSON values, written with every commit.

    `system` names the host of the last sample, `named` the one that the configured name stands for. `hosts` has the
    `Preceding` of each. `open` means that the array of samples has not been closed yet.
    """

    system: str | None = None
    named: str | None = None
    hosts: dict[str, dict[str, Any]] = field(default_factory=dict)
    open: bool = False


@dataclass
class Preceding:
    """What a sample leaves to the next of its host.

    `clock` has its times, `counted` its cumulative counters, `config` a digest of each section's configuration as it
    was published last.
    """

    clock: dict[str, Any] = field(default_factory=dict)
    booted: float | None = None
    counted: dict[str, float] = field(default_factory=dict)
    config: dict[str, str] = field(default_factory=dict)


@dataclass
class Refused:
    """Fields of a sample that are not kept, by reason."""

    fields: dict[Reason, list[str]] = field(default_factory=dict)

    def add(self, reason: Reason, path: Iterable[str], value: object) -> None:
        self.fields.setdefault(reason, []).append(f"{'.'.join(path)}: {value}")


def decode(text: bytes) -> tuple[Tree, dict[Reason, str]]:
    """Return the sample, and the repairs to it by reason.

    A repeated key, as the recorder writes it for two mounts of a device or two processes of a command, is kept as
    `key#2`. `nan` and `inf`, as C prints a quotient of zeros, are read as null.

    Raises
    ------
    UnusableSampleError : it is not JSON.
    """
    repairs: dict[Reason, str] = {}
    try:
        written = text.decode()
    except UnicodeDecodeError as error:
        written = text.decode(errors="replace")
        repairs[Reason.WRONG_ENCODING] = f"expected UTF-8, replaced what is not: {error}"
    try:
        try:
            return _loads(written), repairs
        except json.JSONDecodeError:
            written, count = _NOT_FINITE.subn(r"\1null", written)
            repairs[Reason.NOT_A_NUMBER] = f"{count} fields are nan or inf, read as null"
            return _loads(written), repairs
    except (ValueError, RecursionError) as error:
        raise UnusableSampleError(Reason.UNKNOWN_LINE, f"the sample is not JSON: {error}") from None


def _loads(text: str) -> Tree:
    tree: Tree = encodable(json.loads(text, object_pairs_hook=_pairs), text)
    return tree


def _pairs(pairs: list[tuple[str, Any]]) -> Tree:
    tree = dict(pairs)
    if len(tree) == len(pairs):
        return tree
    times: Counter[str] = Counter()
    tree = {}
    for name, value in pairs:
        times[name] += 1
        tree[name if times[name] == 1 else f"{name}#{times[name]}"] = value
    return tree


def items(tree: Tree, state: NjmonState, zone: tzinfo, system: str | None) -> Iterator[Item]:
    """Yield the records and rejects of a sample; `state` comes from the sample before and is updated.

    Raises
    ------
    UnusableSampleError : it has no time or no system, repeats the sample before, or is nested too deeply.
    """
    try:
        tree = _sections(tree)
        leaves = {section: _leaves(content) for section, content in tree.items() if section != "processes"}
    except RecursionError:
        raise UnusableSampleError(Reason.UNKNOWN_LINE, "the sample is nested too deeply") from None
    host = _hostname(_mapping(tree.get("identity"))) or state.system
    last = Preceding(**state.hosts.get(host or "", {}))
    clock = restored(last.clock)
    is_first = clock.ts is None
    booted = number(_mapping(tree.get("stat_counters")).get("btime"))
    is_boot = booted is not None and last.booted is not None and abs(booted - last.booted) > _REBOOT_S
    at = taken(tree, clock, zone, is_boot=is_boot)
    ts = at.instant
    if system is not None and state.named is None:
        state.named = host
    name = host if system is None or host != state.named else system
    if name is None:
        raise UnusableSampleError(Reason.BAD_HEADER, "expected identity.hostname, which names the system")

    notes: list[Reject] = []
    refused = Refused()
    if system is not None and name != system and is_first:
        detail = f"`{system}` names {state.named}; {name} is another system, kept under its own name"
        notes.append(_note(Reason.RESTARTED, detail, name, ts))
    notes += [_note(reason, detail, name, ts) for reason, detail in at.notes]
    if is_boot or last.booted is None:
        last.booted = booted

    envelope = _envelope(ts, name, last.booted)
    yield from notes
    yield from _config(leaves, last.config, envelope)
    preceding = last.counted if at.follows else {}
    rows: dict[str, list[Fields]] = {}
    for dataset, fields in _measured(tree, leaves, at.rate_s, preceding, refused):
        found = rows.setdefault(dataset, [])
        if fields is not None:
            found.append(fields)
    seconds = {"system_cpu": at.mean_s, "counter": at.mean_s, "pool": at.counted_s}
    covering = {dataset: envelope | _length(seconds.get(dataset, at.rate_s)) for dataset in rows}
    yield from (Table(dataset, covering[dataset], _columns(found)) for dataset, found in rows.items() if found)
    for dataset, found in rows.items():
        yield Record("manifest", {**covering[dataset], "counted": dataset, "row_count": len(found)})
    for reason, fields_refused in refused.fields.items():
        shown = "; ".join(fields_refused[:20])
        yield Reject(reason, f"{len(fields_refused)} fields: {shown}", "part", system=name, ts=iso(ts))

    vmstat = _mapping(tree.get("proc_vmstat"))
    counted = {k: number(vmstat.get(k)) for k in key.POOL_CUMULATIVE.values()}
    last.counted = {k: v for k, v in counted.items() if v is not None}
    last.clock = asdict(clock)
    state.system = host
    state.hosts[host or ""] = asdict(last)


def _sections(tree: Tree) -> Tree:
    """Return the sections as newer versions name them: v25 keeps all of /proc/stat in `stat`, disks in `disk`."""
    sections = {name: _named(value) for name, value in tree.items()}
    loose = {name: sections.pop(name) for name, value in tree.items() if not isinstance(value, dict | list)}
    if loose:
        sections[""] = loose
    stat = sections.pop("stat", None)
    if isinstance(stat, dict):
        total, counters = stat.pop("cpu_total", None), stat.pop("counters", None)
        engines = {name: stat.pop(name) for name in list(stat) if _ENGINE.fullmatch(name)}
        found = {"cpu_total": total, "cpus": engines, "stat_counters": counters, "stat": stat}
        sections = {**{name: value for name, value in found.items() if value}, **sections}
    if "disk" in sections:
        sections.setdefault("disks", sections.pop("disk"))
    every = sections.pop("diskstats", None)
    if isinstance(every, dict):  # all of /proc/diskstats, partitions and mappers too
        sections["disks"] = {**_mapping(sections.get("disks")), **every}
    sections["timestamp"] = _mapping(sections.get("timestamp"))
    return sections


def _named(value: Any) -> Any:
    """Return arrays of named objects (`njmon -e`) as objects by name, at every level."""
    if isinstance(value, dict):
        return {name: _named(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return _pairs([_item(i, inner) for i, inner in enumerate(value)])
    return value


def _item(place: int, inner: Any) -> tuple[str, Any]:
    if isinstance(inner, dict) and isinstance(inner.get("item"), str):
        return inner["item"], _named({name: value for name, value in inner.items() if name != "item"})
    return str(place), _named(inner)


def _envelope(ts: datetime, system: str, booted: float | None) -> Fields:
    envelope: Fields = {"ts": iso(ts), "system": system, "source": "njmon"}
    if booted is not None and 0 <= booted < 2**33:
        envelope["boot_id"] = f"{system} {iso(datetime.fromtimestamp(booted, UTC))}"
    return envelope


def _length(seconds: float | None) -> Fields:
    return {} if seconds is None else {"interval_s": seconds}


# configuration


def _config(leaves: Mapping[str, list[Leaf]], published: dict[str, str], envelope: Fields) -> Iterator[Record]:
    """Yield the configuration of each section that differs from what was published last, as its digest shows.

    Processes have none: each changes its state at every sample.
    """
    for section, content in leaves.items():
        entries = [
            (instance, name, _text(value)) for instance, name, value in content if _is_config(section, name, value)
        ]
        if not entries:
            continue
        digest = hashlib.blake2s(json.dumps(entries).encode(), digest_size=8).hexdigest()
        if published.get(section) != digest:
            published[section] = digest
            for item, name, value in entries:
                yield Record("config", {**envelope, "section": section, "item": item, "name": name, "value": value})


def _is_config(section: str, name: str, value: object) -> bool:
    if section == "timestamp":
        return name in key.CONFIG_NUMBERS["timestamp"]
    if section in key.CONFIG_SECTIONS or isinstance(value, str | bool):
        return True
    return name in key.CONFIG_NUMBERS.get(section, ())


def _leaves(node: Any, within: str | None = None) -> list[Leaf]:
    found: list[Leaf] = []
    for name, inner in _mapping(node).items():
        if isinstance(inner, dict):
            found += _leaves(inner, name if within is None else f"{within}.{name}")
        elif inner is not None:
            found.append((within or "", name, inner))
    return found


# measurements


def _measured(
    tree: Tree,
    leaves: Mapping[str, list[Leaf]],
    seconds: float | None,
    preceding: Mapping[str, float],
    refused: Refused,
) -> Iterator[tuple[str, Fields | None]]:
    """Yield dataset and columns of every row; None as columns registers a dataset whose section may be empty."""
    used: dict[str, set[str]] = {}
    if "cpu_total" in tree or "cpus" in tree:
        used["cpu_total"] = used["cpus"] = {name for names in key.CPU.values() if len(names) == 1 for name in names}
        yield from _engines(tree, refused)
    if "disks" in tree:
        named = (key.DISK_RATES, key.DISK_GAUGES)
        used["disks"] = {name for table in named for name in table.values()} | {"rmsec", "wmsec"}
        yield "disk", None
        yield from _disks(_mapping(tree["disks"]), _system_of(tree), seconds, refused)
    if "networks" in tree:
        used["networks"] = {*key.LINK_RATES.values(), *key.LINK_BYTES.values()}
        yield "link", None
        yield from _links(_mapping(tree["networks"]), seconds, refused)
    if "proc_meminfo" in tree or "proc_vmstat" in tree:
        used["proc_meminfo"] = set(key.POOL_KB.values())
        yield "pool", _pool(tree, preceding, refused)
    if "processes" in tree:
        yield "job", None
        yield from _jobs(_mapping(tree["processes"]), seconds, refused)
    for section, content in leaves.items():
        if section in key.CONFIG_SECTIONS:
            continue
        other = used.get(section, set()) | {"snapshot_loop"}
        for instance, name, value in content:
            if name not in other and not _is_config(section, name, value):
                yield from _counter(section, instance, name, value, refused)


def _counter(section: str, instance: str, name: str, value: object, refused: Refused) -> Iterator[tuple[str, Fields]]:
    unit, kind = key.semantics(section, name)
    path = (section, instance, name) if instance else (section, name)
    figure = _checked(value, path, refused, signed=kind not in ("rate", "percent"))
    if figure is not None:
        fields: Fields = {"section": section, "instance": instance, "counter": name, "value": figure}
        yield "counter", fields | {"unit": unit, "kind": kind}


def _system_of(tree: Tree) -> str:
    """Return AIX or Linux: the system that a sample is of."""
    is_aix = _AIX_SECTIONS & tree.keys() or any(map(_AIX_DISK.fullmatch, _mapping(tree.get("disks"))))
    return "AIX" if is_aix else "Linux"


def _columns(rows: Sequence[Fields]) -> dict[str, list[Any]]:
    names = dict.fromkeys(chain.from_iterable(rows))
    return {name: [row.get(name) for row in rows] for name in names}


def _engines(tree: Tree, refused: Refused) -> Iterator[tuple[str, Fields]]:
    lscpu = _mapping(tree.get("lscpu"))
    engines = {"all": ("cpu_total", _mapping(tree.get("cpu_total")))}
    for name, times in _mapping(tree.get("cpus")).items():
        if match := _ENGINE.fullmatch(name):
            engines[f"CPU{int(match[1]) + 1:03}"] = (f"cpus.{name}", _mapping(times))
    for engine, (path, times) in engines.items():
        if not times:
            continue
        shares: dict[str, float] = {}
        for column, names in key.CPU.items():
            parts = [_checked(times.get(name), (path, name), refused) for name in names]
            known = [part for part in parts if part is not None]
            if parts[0] is not None and len(known) == sum(name in times for name in names):
                shares[column] = round(sum(known), 3)
        if not any(shares.values()):
            shares = {}  # no time at all: an engine that was off line
        fields: Fields = {"engine_type": "core", "engine": engine, **shares}
        if shares:
            fields["cpu_base"] = "logical"
        count = str(lscpu.get("cpus", ""))
        if engine == "all" and _COUNT.fullmatch(count):
            fields["logical_engines"] = number(float(count))
        yield "system_cpu", fields


def _disks(disks: Tree, system: str, seconds: float | None, refused: Refused) -> Iterator[tuple[str, Fields]]:
    kinds = devices(disks, system)
    for disk, content in disks.items():
        figures = _figures(content, ("disks", disk), refused)
        kind = kinds[disk]
        fields: Fields = {"disk": disk, "device_type": kind.device_type, "leaf": kind.leaf}
        fields |= _amounts(figures, key.DISK_RATES, seconds)
        fields |= {column: figures[name] for column, name in key.DISK_GAUGES.items() if name in figures}
        for column, (spent, count) in key.DISK_MEANS.items():
            if spent in figures and figures.get(count):
                fields[column] = round(figures[spent] / figures[count], 3)
        yield "disk", fields


def _links(links: Tree, seconds: float | None, refused: Refused) -> Iterator[tuple[str, Fields]]:
    for link, content in links.items():
        figures = _figures(content, ("networks", link), refused)
        amounts = _amounts(figures, key.LINK_RATES, seconds) | _amounts(figures, key.LINK_BYTES, seconds, 1 / 1024)
        yield "link", {"link": link, "link_type": "interface", **amounts}


def _pool(tree: Tree, preceding: Mapping[str, float], refused: Refused) -> Fields:
    fields: Fields = {"pool": "memory"}
    meminfo = _mapping(tree.get("proc_meminfo"))
    for column, name in key.POOL_KB.items():
        if (kb := _checked(meminfo.get(name), ("proc_meminfo", name), refused)) is not None:
            fields[column] = round(kb / 1024, 3)
    vmstat = _mapping(tree.get("proc_vmstat"))
    for column, name in key.POOL_CUMULATIVE.items():
        now = number(vmstat.get(name))
        if now is None or name not in preceding:
            continue
        if now < preceding[name]:
            refused.add(Reason.NEGATIVE_DELTA, ("proc_vmstat", name), f"{now:.0f} after {preceding[name]:.0f}")
        else:
            fields[column] = now - preceding[name]
    return fields


def _jobs(processes: Tree, seconds: float | None, refused: Refused) -> Iterator[tuple[str, Fields]]:
    seen: set[str] = set()
    for name, content in processes.items():
        pid = number(_mapping(content).get("pid"))
        if pid is None or f"{pid:.0f}" in seen:
            refused.add(
                Reason.DUPLICATE_ROW if pid is not None else Reason.NOT_A_NUMBER, ("processes", name, "pid"), pid
            )
            continue
        job = f"{pid:.0f}"
        seen.add(job)
        figures = _figures({k: v for k, v in content.items() if k in key.JOB}, ("processes", name), refused)
        names = (text for text in map(content.get, ("cmd", "name")) if isinstance(text, str))
        fields: Fields = {"job": job, "command": next(names, _AGAIN.sub("", name))}
        fields |= _amounts(figures, key.JOB_PERCENT, seconds, 10)  # % of a second, in ms
        fields |= _amounts(figures, key.JOB_RATES, seconds)
        fields |= {column: figures[source] for column, source in key.JOB_GAUGES.items() if source in figures}
        if "cpu_ms" in fields:
            fields["cpu_base"] = "logical"
        yield "job", fields
        for counter, value in content.items():
            if counter not in key.JOB and counter not in key.JOB_IDENTITIES:
                yield from _counter("processes", job, counter, value, refused)


def _figures(content: Any, path: tuple[str, ...], refused: Refused) -> dict[str, float]:
    numbers = {name: _checked(value, (*path, name), refused) for name, value in _mapping(content).items()}
    return {name: value for name, value in numbers.items() if value is not None}


def _amounts(
    figures: Mapping[str, float], columns: Mapping[str, str], seconds: float | None, factor: float = 1
) -> dict[str, float]:
    if seconds is None:
        return {}
    return {column: round(figures[name] * seconds * factor, 3) for column, name in columns.items() if name in figures}


def _checked(value: object, path: Iterable[str], refused: Refused, *, signed: bool = False) -> float | None:
    """Return a number that can be kept; note why any other is refused. A value of another type is no figure."""
    figure = number(value)
    if figure is None:
        if type(value) in (int, float):
            refused.add(Reason.OUT_OF_RANGE, path, value)
    elif figure < 0 and not signed:
        refused.add(Reason.NEGATIVE_DELTA, path, value)
        figure = None
    return figure


def _mapping(value: object) -> Tree:
    return value if isinstance(value, dict) else {}


def _hostname(identity: Tree) -> str | None:
    found = (identity.get(name) for name in ("shorthostname", "hostname"))
    return next((name for name in found if isinstance(name, str) and name), None)


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _note(reason: Reason, detail: str, system: str, ts: datetime) -> Reject:
    return Reject(reason, detail, "all", system=system, ts=iso(ts))
