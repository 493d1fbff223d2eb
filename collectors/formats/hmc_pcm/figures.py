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
from counterflow.collectors.text.trees import mappings, number

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
