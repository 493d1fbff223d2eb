"""SR-IOV ports as rows of `link`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from counterflow.collectors.formats.hmc_pcm.figures import Averages
from counterflow.collectors.records import Fields
from counterflow.collectors.text.trees import mapping, mappings
from counterflow.schemas.mapping import fills

FIGURES = {fill.counter: fill for fill in fills("hmc_pcm", "link") if fill.rate}
NAMING = ("drcIndex", "physicalLocation", "physicalDrcIndex", "physicalPortId", "id")

_LOGICAL_PORT = re.compile(r"-S\d+$")

Port = tuple[Fields, Mapping[str, Any]]
"""The columns that name a port, and the port as the document has it."""


def logical(partition: Mapping[str, Any], info: Mapping[str, Any]) -> Iterator[Port]:
    """Yield the logical ports of a partition."""
    for port in mappings(mapping(partition.get("network")).get("sriovLogicalPorts")):
        yield _logical(port, info), port


def physical(server: Mapping[str, Any]) -> Iterator[Port]:
    """Yield the physical ports of a managed system's adapters."""
    for adapter in mappings(mapping(server.get("network")).get("sriovAdapters")):
        for port in mappings(adapter.get("physicalPorts")):
            location = str(port.get("physicalLocation") or port.get("id"))
            yield {"link": location, "link_type": "physical_port", "physical_port": location}, port


def amounts(link: str, port: Mapping[str, Any], seconds: float, averages: Averages) -> Fields:
    """Return the columns of `link` that a port's figures fill."""
    fields: Fields = {}
    for name, fill in FIGURES.items():
        if (rate := averages.of(link, port, name)) is not None:
            fields[fill.column] = round(rate * seconds * fill.factor, 3 if fill.factor == 1 else 6)
    return fields


def _logical(port: Mapping[str, Any], info: Mapping[str, Any]) -> Fields:
    """Return a logical port's naming fields: the DRC index as the HMC's commands write it, eight hexadecimal digits."""
    index, location = str(port.get("drcIndex") or ""), str(port.get("physicalLocation") or "")
    link = f"{int(index):08X}" if index.isdecimal() else index or location
    port_location = _LOGICAL_PORT.sub("", location)
    if not port_location:
        port_location = f"{info.get('mtms')} {port.get('physicalDrcIndex')} {port.get('physicalPortId')}"
    return {"link": link, "link_type": "logical_port", "physical_port": port_location}
