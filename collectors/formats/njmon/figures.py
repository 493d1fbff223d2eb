"""The figures of a sample: the rows of each dataset that its sections fill, and what is refused of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from itertools import chain
from typing import Any

from counterflow.collectors.formats.njmon import semantics as key
from counterflow.collectors.formats.njmon.tree import ENGINE, Leaf, Tree, is_config
from counterflow.collectors.records import Fields, Reason
from counterflow.collectors.text.device_names import devices
from counterflow.collectors.text.refused import RefusedFigures
from counterflow.collectors.text.trees import mapping, number
from counterflow.schemas.mapping import amounts, counters

_COUNT = re.compile(r"-?[0-9]+")
_AGAIN = re.compile(r"#\d+$")
_AIX_SECTIONS = {"lpar_format1", "cpu_logical_total"}
_AIX_DISK = re.compile(r"hdisk\d+")


def measured(
    tree: Tree,
    leaves: Mapping[str, list[Leaf]],
    seconds: float | None,
    preceding: Mapping[str, float],
    refused: RefusedFigures,
) -> Iterator[tuple[str, Fields | None]]:
    """Yield dataset and columns of every row; None as columns registers a dataset whose section may be empty."""
    used: dict[str, Set[str]] = {}
    if "cpu_total" in tree or "cpus" in tree:
        used["cpu_total"] = used["cpus"] = {name for names in key.CPU.values() if len(names) == 1 for name in names}
        yield from _engines(tree, refused)
    if "disks" in tree:
        used["disks"] = counters("njmon", "disk") | {"rmsec", "wmsec"}
        yield "disk", None
        yield from _disks(mapping(tree["disks"]), _system_of(tree), seconds, refused)
    if "networks" in tree:
        used["networks"] = counters("njmon", "link")
        yield "link", None
        yield from _links(mapping(tree["networks"]), seconds, refused)
    if "proc_meminfo" in tree or "proc_vmstat" in tree:
        used["proc_meminfo"] = counters("njmon", "pool")
        yield "pool", _pool(tree, preceding, refused)
    if "processes" in tree:
        yield "job", None
        yield from _jobs(mapping(tree["processes"]), seconds, refused)
    for section, content in leaves.items():
        if section in key.CONFIG_SECTIONS:
            continue
        other = used.get(section, set()) | {"snapshot_loop"}
        for instance, name, value in content:
            if name not in other and not is_config(section, name, value):
                yield from _counter(section, instance, name, value, refused)


def _counter(
    section: str, instance: str, name: str, value: object, refused: RefusedFigures
) -> Iterator[tuple[str, Fields]]:
    unit, kind = key.semantics(section, name)
    path = (section, instance, name) if instance else (section, name)
    figure = _checked(value, path, refused, signed=kind not in ("rate", "percent"))
    if figure is not None:
        fields: Fields = {"section": section, "instance": instance, "counter": name, "value": figure}
        yield "counter", fields | {"unit": unit, "kind": kind}


def _system_of(tree: Tree) -> str:
    """Return AIX or Linux: the system that a sample is of."""
    is_aix = _AIX_SECTIONS & tree.keys() or any(map(_AIX_DISK.fullmatch, mapping(tree.get("disks"))))
    return "AIX" if is_aix else "Linux"


def columns_of(rows: Sequence[Fields]) -> dict[str, list[Any]]:
    """Return rows as columns, None where a row has no such figure."""
    names = dict.fromkeys(chain.from_iterable(rows))
    return {name: [row.get(name) for row in rows] for name in names}


def _engines(tree: Tree, refused: RefusedFigures) -> Iterator[tuple[str, Fields]]:
    lscpu = mapping(tree.get("lscpu"))
    engines = {"all": ("cpu_total", mapping(tree.get("cpu_total")))}
    for name, times in mapping(tree.get("cpus")).items():
        if match := ENGINE.fullmatch(name):
            engines[f"CPU{int(match[1]) + 1:03}"] = (f"cpus.{name}", mapping(times))
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


def _disks(
    disks: Mapping[str, Any], system: str, seconds: float | None, refused: RefusedFigures
) -> Iterator[tuple[str, Fields]]:
    kinds = devices(disks, system)
    for disk, content in disks.items():
        figures = _figures(content, ("disks", disk), refused)
        kind = kinds[disk]
        fields: Fields = {"disk": disk, "device_type": kind.device_type, "leaf": kind.leaf}
        fields |= amounts("njmon", "disk", figures, seconds)
        for column, (spent, count) in key.DISK_MEANS.items():
            if spent in figures and figures.get(count):
                fields[column] = round(figures[spent] / figures[count], 3)
        yield "disk", fields


def _links(links: Mapping[str, Any], seconds: float | None, refused: RefusedFigures) -> Iterator[tuple[str, Fields]]:
    for link, content in links.items():
        figures = _figures(content, ("networks", link), refused)
        yield "link", {"link": link, "link_type": "interface", **amounts("njmon", "link", figures, seconds)}


def _pool(tree: Tree, preceding: Mapping[str, float], refused: RefusedFigures) -> Fields:
    meminfo, used = mapping(tree.get("proc_meminfo")), counters("njmon", "pool")
    figures = _figures({k: v for k, v in meminfo.items() if k in used}, ("proc_meminfo",), refused)
    fields: Fields = {"pool": "memory", **amounts("njmon", "pool", figures, None)}
    vmstat = mapping(tree.get("proc_vmstat"))
    for column, name in key.POOL_CUMULATIVE.items():
        now = number(vmstat.get(name))
        if now is None or name not in preceding:
            continue
        if now < preceding[name]:
            went = f"{now:.0f} after {preceding[name]:.0f}"
            refused.add(Reason.NEGATIVE_DELTA, f"proc_vmstat.{name}: {went}")
        else:
            fields[column] = now - preceding[name]
    return fields


def _jobs(processes: Mapping[str, Any], seconds: float | None, refused: RefusedFigures) -> Iterator[tuple[str, Fields]]:
    seen: set[str] = set()
    used = counters("njmon", "job")
    for name, content in processes.items():
        pid = number(mapping(content).get("pid"))
        if pid is None or f"{pid:.0f}" in seen:
            reason = Reason.DUPLICATE_ROW if pid is not None else Reason.NOT_A_NUMBER
            refused.add(reason, f"processes.{name}.pid: {pid}")
            continue
        job = f"{pid:.0f}"
        seen.add(job)
        figures = _figures({k: v for k, v in content.items() if k in used}, ("processes", name), refused)
        names = (text for text in map(content.get, ("cmd", "name")) if isinstance(text, str))
        fields: Fields = {"job": job, "command": next(names, _AGAIN.sub("", name))}
        fields |= amounts("njmon", "job", figures, seconds)
        if "cpu_ms" in fields:
            fields["cpu_base"] = "logical"
        yield "job", fields
        for counter, value in content.items():
            if counter not in used and counter not in key.JOB_IDENTITIES:
                yield from _counter("processes", job, counter, value, refused)


def _figures(content: Any, path: tuple[str, ...], refused: RefusedFigures) -> dict[str, float]:
    numbers = {name: _checked(value, (*path, name), refused) for name, value in mapping(content).items()}
    return {name: value for name, value in numbers.items() if value is not None}


def _checked(value: object, path: Iterable[str], refused: RefusedFigures, *, signed: bool = False) -> float | None:
    """Return a number that can be kept; note why any other is refused. A value of another type is no figure."""
    figure = number(value)
    if figure is None:
        if type(value) in (int, float):
            refused.add(Reason.OUT_OF_RANGE, f"{'.'.join(path)}: {value}")
    elif figure < 0 and not signed:
        refused.add(Reason.NEGATIVE_DELTA, f"{'.'.join(path)}: {value}")
        figure = None
    return figure
