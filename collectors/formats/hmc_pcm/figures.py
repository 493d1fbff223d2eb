"""Figures of a document: each is an array with the average of the sample, an attribute is a plain value.

Rates are averages per second of the sample. Units follow from the names, as IBM's JSON specification has them.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from counterflow.collectors.records import Fields, Reason
from counterflow.collectors.text.refused import RefusedFigures
from counterflow.collectors.text.trees import mapping, mappings, number

UNITS = (
    (re.compile(r"Bytes$"), "bytes/s", "rate"),
    (re.compile(r"Packets$"), "packets/s", "rate"),
    (re.compile(r"^numOf(?:Reads|Writes)$"), "requests/s", "rate"),
    (re.compile(r"ProcUnits$|VirtualProcessors$"), "processors", "gauge"),
    (re.compile(r"Mem$"), "MB of 1,048,576 bytes", "gauge"),
    (re.compile(r"^powerReading$"), "W", "gauge"),
    (re.compile(r"^temperatureReading$"), "°C", "gauge"),
)
_INSTANCE = ("name", "id", "entityId", "entityInstance", "drcIndex", "physicalLocation", "vlanId", "wwpn")
"""Attributes that name an entry of a list, as far as it has them."""


@dataclass(slots=True)
class Averages:
    """Reads the averages of a document, which stand at `place` of each array; `refused` names what is no figure."""

    place: int
    refused: RefusedFigures = field(default_factory=RefusedFigures)

    def of(self, owner: str, holder: Mapping[str, Any], name: str) -> float | None:
        """Return the average of a figure; None where it is missing, or refused."""
        if name not in holder:
            return None
        value = holder[name]
        if isinstance(value, list):
            value = value[self.place] if self.place < len(value) else None
        figure = number(value)
        if figure is None or figure < 0:
            self.refused.add(Reason.OUT_OF_RANGE, f"{owner}.{name}: {holder[name]!r:.60}")
            return None
        return figure

    def counters(
        self, section: str, instance: str, content: Mapping[str, Any], read: Container[str]
    ) -> Iterator[Fields]:
        """Yield the figures of `content` at any depth as counters, but for those of the names in `read`."""
        seen: set[str] = set()
        for name, value in content.items():
            if name in read:
                continue
            inner = ".".join(filter(None, (section, name)))
            if isinstance(value, dict):
                yield from self.counters(inner, instance, value, read)
            elif entries := mappings(value):
                for at, entry in enumerate(entries):
                    called = "/".join(str(entry[key]) for key in _INSTANCE if key in entry)
                    unique = called if called not in seen else f"{called}#{at + 1}"
                    seen.add(unique)
                    yield from self.counters(inner, "/".join(filter(None, (instance, unique))), entry, read)
            elif _is_figure(value) and (figure := self.of(instance or section, content, name)) is not None:
                yield {"section": section, "instance": instance, "counter": name, "value": figure, **_unit(name)}


def _is_figure(value: object) -> bool:
    """Return whether a value is an array of figures: without texts, and not of null alone, which is unknown."""
    if not isinstance(value, list):
        return isinstance(value, float)
    return any(one is not None for one in value) and not any(isinstance(one, str | list) for one in value)


def _unit(name: str) -> Fields:
    return next(({"unit": unit, "kind": kind} for known, unit, kind in UNITS if known.search(name)), {})


_CONSUMED = {"physical_consumed_cores": "utilizedProcUnits", "physical_idle_cores": "idleProcUnits"}
_SHARED = {"entitled_cores": "entitledProcUnits", "virtual_engines": "currentVirtualProcessors"}
"""Columns of a partition in a pool of processors; dedicated processors have neither."""
_SHARED_MODES = ("cap", "uncap")
_MEMORY = ("logicalMem", "assignedMem")
"""The memory of a partition, and of a VIOS."""


def partition_rows(partition: Mapping[str, Any], averages: Averages) -> Iterator[tuple[str, Fields]]:
    """Yield the rows of the partition's processors and memory, by dataset; what no column holds is a counter."""
    processor, memory = mapping(partition.get("processor")), mapping(partition.get("memory"))
    columns = _CONSUMED | (_SHARED if processor.get("mode") in _SHARED_MODES else {})
    if found := _read("processor", processor, columns, averages):
        yield "system_cpu", {"engine_type": "core", "engine": "all", **found}
    size = next((name for name in _MEMORY if name in memory), "")
    if found := _read("memory", memory, {"size_mb": size}, averages):
        yield "pool", {"pool": "memory", **found}
    for section, content, read in (("processor", processor, columns.values()), ("memory", memory, (size,))):
        for counter in averages.counters(section, "", content, frozenset(read)):
            yield "counter", counter


def partition_settings(partition: Mapping[str, Any]) -> dict[str, str]:
    """Return the attributes of the partition and its processors: state, type, mode, weight."""
    found = {**partition, **mapping(partition.get("processor"))}
    return {n: str(v) for n, v in found.items() if isinstance(v, str | int) and n not in ("id", "uuid", "name") and v}


def _read(owner: str, holder: Mapping[str, Any], columns: Mapping[str, str], averages: Averages) -> Fields:
    known = ((column, averages.of(owner, holder, name)) for column, name in columns.items())
    return {column: figure for column, figure in known if figure is not None}


PORT_NAMING = ("drcIndex", "physicalLocation", "physicalDrcIndex", "physicalPortId", "id")

_LOGICAL_PORT = re.compile(r"-S\d+$")

Port = tuple[Fields, Mapping[str, Any]]
"""The columns that name a port, and the port as the document has it."""


def logical_ports(partition: Mapping[str, Any], info: Mapping[str, Any]) -> Iterator[Port]:
    """Yield the logical ports of a partition."""
    for port in mappings(mapping(partition.get("network")).get("sriovLogicalPorts")):
        yield _logical_port(port, info), port


def physical_ports(server: Mapping[str, Any]) -> Iterator[Port]:
    """Yield the physical ports of a managed system's adapters."""
    for adapter in mappings(mapping(server.get("network")).get("sriovAdapters")):
        for port in mappings(adapter.get("physicalPorts")):
            location = str(port.get("physicalLocation") or port.get("id"))
            yield {"link": location, "link_type": "physical_port", "physical_port": location}, port


def _logical_port(port: Mapping[str, Any], info: Mapping[str, Any]) -> Fields:
    """Return a logical port's naming fields: the DRC index as the HMC's commands write it, eight hexadecimal digits."""
    index, location = str(port.get("drcIndex") or ""), str(port.get("physicalLocation") or "")
    link = f"{int(index):08X}" if index.isdecimal() else index or location
    port_location = _LOGICAL_PORT.sub("", location)
    if not port_location:
        port_location = f"{info.get('mtms')} {port.get('physicalDrcIndex')} {port.get('physicalPortId')}"
    return {"link": link, "link_type": "logical_port", "physical_port": port_location}
