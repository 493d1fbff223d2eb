"""Processors and memory of a partition or VIOS as rows of `system_cpu` and `pool`.

Source: IBM's JSON specification of processed metrics and documents of real HMCs in the tests of
github.com/mnellemann/hmci: processor units are averages of the sample, memory is in MB.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from counterflow.collectors.formats.hmc_pcm.figures import Averages
from counterflow.collectors.records import Fields
from counterflow.collectors.text.trees import mapping

_CONSUMED = {"physical_consumed_cores": "utilizedProcUnits", "physical_idle_cores": "idleProcUnits"}
_SHARED = {"entitled_cores": "entitledProcUnits", "virtual_engines": "currentVirtualProcessors"}
"""Columns of a partition in a pool of processors; dedicated processors have neither."""
_SHARED_MODES = ("cap", "uncap")
_MEMORY = ("logicalMem", "assignedMem")
"""The memory of a partition, and of a VIOS."""


def rows(partition: Mapping[str, Any], averages: Averages) -> Iterator[tuple[str, Fields]]:
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


def settings(partition: Mapping[str, Any]) -> dict[str, str]:
    """Return the attributes of the partition and its processors: state, type, mode, weight."""
    found = {**partition, **mapping(partition.get("processor"))}
    return {n: str(v) for n, v in found.items() if isinstance(v, str | int) and n not in ("id", "uuid", "name") and v}


def _read(owner: str, holder: Mapping[str, Any], columns: Mapping[str, str], averages: Averages) -> Fields:
    known = ((column, averages.of(owner, holder, name)) for column, name in columns.items())
    return {column: figure for column, figure in known if figure is not None}
