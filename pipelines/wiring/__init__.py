"""Finds the physical port that carries a link, from what IBM i, the HMC and the site know of each hop.

No view of IBM i names the port below an RDMA link. The way there has five hops: group, addresses, line description,
resource, location code, port. Each hop is a setting that lands in `config`; pipelines/jobs/link_wire/README.md lists
them. The site may give any hop and then overrides what was observed. A hop that is missing or contradicted ends the
wire: nothing is inferred from a partition that has one port only.

Standard library only: in Flink none of Counterflow's packages exist. Pure.
"""

from __future__ import annotations

import re
from bisect import bisect_right, insort
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self

SITE = "site"
KEPT = 20
"""Statements of one setting that are kept: of more, first the oldest repetition is forgotten, then the oldest value."""

_LOGICAL = re.compile(r"-S\d+$")


class Hop(NamedTuple):
    """One hop: its kind, what it leads to, and the view, file or command that states it."""

    hop: str
    value: str
    source: str


class Wire(NamedTuple):
    """The port of one link at one time.

    Parameters
    ----------
    physical_port, logical_port : location of the physical port, and id of the logical port as the HMC writes them.
    pair : both nodes of the mirrored pair in one order, from MIRROR_INFO.
    capacity_pct, line_bits_s : as the site gives them for the link or one of its hops.
    hops : the hops that are known, in order.
    missing : why there is no physical port; None where there is one.
    contradiction : hops on which two sources differ; None where there are none.
    """

    physical_port: str | None = None
    logical_port: str | None = None
    pair: str | None = None
    capacity_pct: float | None = None
    line_bits_s: float | None = None
    hops: tuple[Hop, ...] = ()
    missing: str | None = None
    contradiction: str | None = None

    def as_row(self) -> dict[str, Any]:
        """Return the columns of `link_wire`; hops as `value (source)`, one after the other."""
        way = " > ".join(f"{hop.value} ({hop.source})" for hop in self.hops)
        return {**self._asdict(), "hops": way}


Key = tuple[str, str, str]
"""Section, item and name of a setting in `config`."""


@dataclass(frozen=True)
class Settings:
    """The known settings of one system: the values of each with the time from which they hold, oldest first.

    `learned` counts the changes, so that of two wires the one that knows more has the greater count.
    """

    values: Mapping[Key, tuple[tuple[int, str], ...]] = field(default_factory=dict)
    learned: int = 0

    def learn(self, section: str, item: str, name: str, ts_ms: int, value: str) -> Self:
        """Return the settings with one more; the same object where it adds nothing new."""
        key = (section, item, name)
        known = self.values.get(key, ())
        if (ts_ms, value) in known:
            return self
        kept = [(ts, old) for ts, old in known if ts != ts_ms]
        insort(kept, (ts_ms, value))
        if len(kept) > KEPT:
            repetitions = (place for place in range(1, len(kept)) if kept[place][1] == kept[place - 1][1])
            del kept[next(repetitions, 0)]
        return self if tuple(kept) == known else type(self)({**self.values, key: tuple(kept)}, self.learned + 1)

    def at(self, section: str, item: str, name: str, ts_ms: int) -> str | None:
        """Return the value at a time, None where it is unknown or empty.

        Where nothing earlier is known, a later observation also holds before its time: hardware is there before it is
        listed. An entry of the site holds from its own time only.
        """
        known = self.values.get((section, item, name), ())
        place = bisect_right(known, ts_ms, key=lambda one: one[0]) - 1
        if place < 0 and (section == "port" or not known):
            return None
        return known[max(place, 0)][1] or None

    def items(self, section: str, name: str) -> Iterator[str]:
        """Yield the items of a section that have such a setting, sorted."""
        return iter(sorted(item for within, item, setting in self.values if within == section and setting == name))

    def wire(self, link_type: str, link: str, ts_ms: int) -> Wire:
        """Return the wire of a link of type `nrg` or `rdma_link` at a time."""
        traces = [_Trace(self, ts_ms, names) for names in self._ends(link_type, link, ts_ms)]
        for trace in traces:
            trace.follow()
        pair = self._pair(ts_ms)
        first = traces[0]
        disputed = "; ".join(dict.fromkeys(text for trace in traces for text in trace.contradictions)) or None
        ports = {trace.physical_port for trace in traces}
        if len(ports) == 1:
            logical = first.logical_port if len({trace.logical_port for trace in traces}) == 1 else None
            found = first.physical_port, logical, pair, first.number("capacity_pct"), first.number("line_bits_s")
            return Wire(*found, tuple(first.hops), first.missing, disputed)
        missing = next((trace.missing for trace in traces if trace.missing), None)
        if missing is None:
            named = ", ".join(sorted(port for port in ports if port))
            missing = (
                f"the links of {link} use {len(ports)} physical ports ({named}): each RDMA link is judged by itself"
            )
        return Wire(pair=pair, missing=missing, contradiction=disputed)

    def _ends(self, link_type: str, link: str, ts_ms: int) -> list[tuple[str, ...]]:
        """Return the names of each link to follow: the group, the pair of addresses, the local address."""
        if link_type == "rdma_link":
            return [(link, link.partition(" ")[0])]
        items = [item for item in self._links_of(link) if item.count(" ") == 2]
        used = [
            item for item in items if (self.at("NRG_LINK_INFO", item, "LINK_IN_USE", ts_ms) or "YES").upper() != "NO"
        ]
        ends = [item.split(" ")[1:] for item in used or items]
        return [(link, f"{source} {target}", source) for source, target in ends] or [(link,)]

    def _links_of(self, group: str) -> list[str]:
        found = {
            item for section, item, _ in self.values if section == "NRG_LINK_INFO" and item.startswith(f"{group} ")
        }
        return sorted(found)

    def _pair(self, ts_ms: int) -> str | None:
        nodes = {
            self.at("MIRROR_INFO", item, name, ts_ms)
            for name in ("PRIMARY_NODE", "SECONDARY_NODE")
            for item in self.items("MIRROR_INFO", name)
        }
        known = sorted(node for node in nodes if node)
        return " ".join(known) if len(known) == 2 else None


class _Trace:
    """The hops of one pair of addresses, or of a group without one."""

    def __init__(self, settings: Settings, ts_ms: int, names: tuple[str, ...]) -> None:
        self._settings, self._ts_ms = settings, ts_ms
        self._names = list(names)
        self.hops: list[Hop] = []
        self.contradictions: list[str] = []
        self.physical_port: str | None = None
        self.logical_port: str | None = None
        self.missing: str | None = None

    def follow(self) -> None:
        """Follow the hops as far as they are known."""
        line = self._line()
        resource = self._resource(line) if line is not None or self._site("resource") is not None else None
        location = self._location(resource) if resource is not None or self._site("location_code") is not None else None
        if location is not None:
            self._find_port_at(location)
        if (given := self._site("physical_port")) is not None:
            self._take_port(given)

    def _line(self) -> str | None:
        at, name = self._at, self._names[0]
        addresses = [n for n in self._names if n.count(" ") == 1]
        if not addresses:
            return self._hop("line", [], f"no link of {name} (NRG_LINK_INFO)")
        source = self._names[-1]
        observed = [(at("NETSTAT_INTERFACE_INFO", source, "LINE_DESCRIPTION"), "NETSTAT_INTERFACE_INFO")]
        for pair in addresses:
            observed.append((at("RDMA_LINK_INFO", pair, "LINE_DESCRIPTION"), "RDMA_LINK_INFO"))
            if name != pair:
                observed.append((at("NRG_LINK_INFO", f"{name} {pair}", "LINE_DESCRIPTION"), "NRG_LINK_INFO"))
        return self._hop("line", observed, f"no line description of {source} (NETSTAT_INTERFACE_INFO)")

    def _resource(self, line: str | None) -> str | None:
        observed = [(self._at("QAPMETH", line, "ETMPORT"), "QAPMETH")] if line else []
        return self._hop("resource", observed, f"no resource of line {line} (QAPMETH)")

    def _location(self, resource: str | None) -> str | None:
        view = "HARDWARE_RESOURCE_INFO"
        observed = [(self._at(view, resource, "LOCATION_CODE"), view)] if resource else []
        return self._hop("location_code", observed, f"no location code of resource {resource} ({view})")

    def _take_port(self, given: str) -> None:
        """Take the port that the site gives, whatever the HMC lists."""
        if self.physical_port not in (None, given):
            self.contradictions.append(f"port: {given} ({SITE}), {self.physical_port} (HMC)")
            self.hops.pop()
            self.logical_port = None
        self.physical_port, self.missing = given, None
        self.hops.append(Hop("port", given, SITE))

    def number(self, name: str) -> float | None:
        """Return a figure of the site for this link."""
        value = self._site(name)
        return None if value is None else float(value)

    def _find_port_at(self, location: str) -> None:
        """Find the HMC's logical port at a location, and the physical port below it."""
        items = self._settings.items("logical_port", "location_code")
        listed = {item: self._at("logical_port", item, "location_code") for item in items}
        found = [item for item, code in listed.items() if code == location]
        if len(found) == 1:
            self.logical_port, self.physical_port = found[0], _LOGICAL.sub("", location)
            self._names.append(self.logical_port)
            self.hops.append(Hop("port", self.physical_port, "HMC"))
        elif found:
            self.missing = f"the HMC lists {len(found)} logical ports at {location}"
        elif listed:
            self.missing = f"the HMC lists no logical port of the system at {location}"
        else:
            self.missing = f"the HMC lists no logical port of the system, none at {location} (lshwres)"

    def _hop(self, hop: str, observed: Iterable[tuple[str | None, str]], lacking: str) -> str | None:
        """Return what a hop leads to: as the site gives it, else as all observations agree."""
        found = [(value, source) for value, source in observed if value and not value.startswith("*")]
        if (given := self._site(hop)) is not None:
            found.insert(0, (given, SITE))
        if len({value for value, _ in found}) > 1:
            self.contradictions.append(f"{hop}: " + ", ".join(f"{value} ({source})" for value, source in found))
            if given is None:
                self.missing = f"sources differ on the {hop}: add it to `ports` of the site file"
                return None
        if not found:
            self.missing = lacking
            return None
        value, source = found[0]
        self.hops.append(Hop(hop, value, source))
        self._names.append(value)
        return value

    def _site(self, name: str) -> str | None:
        """Return what the site gives for the link or, the nearest first, for a hop that is known already."""
        values = (self._at("port", known, name) for known in self._names)
        return next((value for value in values if value is not None), None)

    def _at(self, section: str, item: str, name: str) -> str | None:
        return self._settings.at(section, item, name, self._ts_ms)
