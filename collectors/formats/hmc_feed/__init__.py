"""Atom feeds of an HMC's REST interface (`/rest/api/uom`): SR-IOV ports, partitions and managed systems.

Every element of the tree is a list; see `xml_trees`. A port does not name its owner: the address of its feed has the
UUID of the partition, whose name the feed of partitions gives.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from counterflow.collectors.records import Context, Fields, Item, Position, Reason, Record, Reject, Unusable
from counterflow.collectors.text import xml_trees
from counterflow.collectors.text.documents import Documents, read_items
from counterflow.collectors.text.lines import BOM
from counterflow.collectors.text.numbers import number_of
from counterflow.collectors.text.settings import changes
from counterflow.collectors.text.stamps import iso, stated
from counterflow.collectors.text.trees import mapping, mappings

# names of elements: from answers of an HMC and of NovaLink in the tests of pypowervm (github.com/powervm/pypowervm),
# and from its wrappers `iocard`, `logical_partition`, `base_partition` and `managed_system`

PARTITIONS = ("LogicalPartition", "VirtualIOServer")
MANAGED_SYSTEM = "ManagedSystem"
NAMES = {"LogicalPartition": "PartitionName", "VirtualIOServer": "PartitionName", MANAGED_SYSTEM: "SystemName"}

SETTINGS = {
    "partition": """
        PartitionID PartitionState PartitionType OperatingSystemVersion CurrentProcessorCompatibilityMode CurrentMemory
        CurrentMaximumMemory CurrentHasDedicatedProcessors CurrentSharingMode CurrentProcessors CurrentProcessingUnits
        CurrentMaximumProcessingUnits AllocatedVirtualProcessors CurrentMaximumVirtualProcessors CurrentUncappedWeight
        CurrentSharedProcessorPoolID
    """.split(),  # noqa: SIM905 - a list of them is a page
    "managed_system": """
        State MachineType Model SerialNumber SystemFirmware InstalledSystemProcessorUnits
        ConfigurableSystemProcessorUnits CurrentAvailableSystemProcessorUnits InstalledSystemMemory
        ConfigurableSystemMemory CurrentAvailableSystemMemory
    """.split(),  # noqa: SIM905 - a list of them is a page
}
"""By section of `config`; elements are searched at any depth, and the first occurrence counts."""

LOGICAL_PORT = r"SRIOV\w*LogicalPort"
PHYSICAL_PORT = r"\w*PhysicalPort"
ADAPTER = "SRIOVAdapter"

ID, LOCATION = "LogicalPortID", "LocationCode"
FUNCTIONAL, LINK_STATUS = "IsFunctional", "LinkStatus"
CAPACITY, SPEED = "ConfiguredCapacity", "CurrentConnectionSpeed"
IN_COLUMNS = (ID, LOCATION, FUNCTIONAL, LINK_STATUS, CAPACITY, SPEED, "Metadata")

_SUFFIX = re.compile(r"-S\d+$")
_OWNER = re.compile(r"/(?:LogicalPartition|VirtualIOServer)/([0-9A-Fa-f-]{36})/")
_SPEED = re.compile(r"E(\d{1,4})([MG])bps")
_BITS = {"M": 1e6, "G": 1e9}
_STATES = {"true": "1", "false": "0"}

Object = Mapping[str, Any]


@dataclass
class FeedState:
    """State carried over from earlier documents: JSON values, written with every commit.

    `names` holds the names of partitions by UUID, `config` the settings published last for each object.
    """

    names: dict[str, str] = field(default_factory=dict)
    config: dict[str, dict[str, str]] = field(default_factory=dict)


def items(tree: Any, state: FeedState, context: Context) -> Iterator[Item]:
    """Yield the records and rejects of a document; `state` is updated.

    Raises
    ------
    Unusable : it states no time, or holds no managed object.
    """
    feed = mapping(tree)
    written = _text(feed, "updated") or _text(feed, "published")
    found = stated(written, context.zone) if written else context.given_at
    if found is None:
        reason = Reason.STAMP_INVALID if written else Reason.STAMP_MISSING
        raise Unusable(reason, f"expected a time under `updated`, found {written or 'none'}; --at gives it")
    objects = [
        (kind, entry, one)
        for entry in (mappings(feed.get("entry")) if "entry" in feed else [feed])
        for content in mappings(entry.get("content"))
        for kind in content
        for one in mappings(content.get(kind))
    ]
    if not objects:
        raise Unusable(Reason.NOT_THIS_FORMAT, "expected managed objects below /rest/api/uom, found none")
    for kind, entry, one in objects:
        if kind in PARTITIONS and (name := _text(one, NAMES[kind])) and (uuid := _text(entry, "id")):
            state.names[uuid.upper()] = name
    yield from _Document(iso(found), feed, state, context).items(objects)


class _Document:
    """The objects of one document, all of one instant."""

    def __init__(self, ts: str, feed: Object, state: FeedState, context: Context) -> None:
        self._ts, self._feed, self._state, self._context = ts, feed, state, context
        self._rows: Counter[str] = Counter()

    def items(self, objects: list[tuple[str, Object, Object]]) -> Iterator[Item]:
        others: Counter[str] = Counter()
        for kind, entry, one in objects:
            if kind in NAMES:
                yield from self._holder(kind, one)
            elif re.fullmatch(LOGICAL_PORT, kind):
                yield from self._logical(one, entry)
            else:
                others[kind] += 1
        for kind, count in others.items():
            detail = f"`{kind:.60}` ({count}): only SR-IOV ports, partitions and managed systems are read"
            yield Reject(Reason.UNKNOWN_LINE, detail, "none", ts=self._ts)
        for system, count in self._rows.items():
            yield Record("manifest", {**self._envelope(system), "counted": "link", "row_count": count})

    def _holder(self, kind: str, one: Object) -> Iterator[Item]:
        """Yield the settings of a partition or managed system, and the physical ports of the latter."""
        system = self._context.system or _text(one, NAMES[kind])
        if system is None:
            yield self._nameless(f"expected {NAMES[kind]}, or --system")
            return
        section = "managed_system" if kind == MANAGED_SYSTEM else "partition"
        settings = {name: value for name in SETTINGS[section] if (value := next(_within(one, name), None))}
        yield from self._config(system, section, "", {n: v for n, v in settings.items() if isinstance(v, str)})
        for adapter in _within(one, ADAPTER):
            for port in mappings([*_within(adapter, PHYSICAL_PORT)]):
                yield from self._physical(system, port)

    def _physical(self, system: str, port: Object) -> Iterator[Item]:
        location = _text(port, LOCATION)
        if location is None:
            yield Reject(Reason.BAD_HEADER, f"a physical port without {LOCATION}", "none", ts=self._ts)
            return
        fields: Fields = {"link": location, "link_type": "physical_port", "physical_port": location}
        speed = _text(port, SPEED)
        if speed is not None and (bits := _SPEED.fullmatch(speed)):
            fields["line_bits_s"] = int(bits[1]) * _BITS[bits[2]]
        elif speed not in (None, "Unknown", "Auto"):
            detail = f"{location} {SPEED}: expected a rate such as E10Gbps, found `{speed:.40}`"
            yield Reject(Reason.OUT_OF_RANGE, detail, "part", ts=self._ts)
        yield from self._port(system, fields, _text(port, LINK_STATUS), port)

    def _logical(self, port: Object, entry: Object) -> Iterator[Item]:
        links = (*mappings(entry.get("link")), *mappings(self._feed.get("link")))
        owner = next((found[1] for link in links if (found := _owner(link))), None)
        system = self._context.system or self._state.names.get((owner or "").upper())
        number = _text(port, ID)
        if system is None:
            yield self._nameless(
                f"a port of the partition {owner or 'that nothing names'}: put the feed of LogicalPartition before it "
                "in the file, or give --system"
            )
            return
        if number is None or not number.isdecimal():
            yield Reject(Reason.BAD_HEADER, f"{ID}: expected a number, found `{number}`", "none", ts=self._ts)
            return
        fields: Fields = {"link": f"{int(number):08X}", "link_type": "logical_port"}
        if location := _text(port, LOCATION):
            fields["physical_port"] = _SUFFIX.sub("", location)
        if (capacity := _text(port, CAPACITY)) is not None:
            try:
                if (share := number_of(capacity.removesuffix("%"))) is not None:
                    fields["capacity_pct"] = share
            except Unusable as error:
                yield Reject(error.reason, f"{fields['link']} {CAPACITY}: {error}", "part", ts=self._ts)
        yield from self._port(system, fields, _text(port, FUNCTIONAL), port)

    def _port(self, system: str, fields: Fields, state: str | None, port: Object) -> Iterator[Item]:
        if state is not None:
            fields["state"] = _STATES.get(state, state)
        self._rows[system] += 1
        yield Record("link", {**self._envelope(system), **fields})
        settings = {name: ", ".join(filter(None, _texts(port, name))) for name in port if name not in IN_COLUMNS}
        yield from self._config(system, fields["link_type"], fields["link"], {n: v for n, v in settings.items() if v})

    def _config(self, system: str, section: str, item: str, settings: Mapping[str, str]) -> Iterator[Record]:
        """Yield the settings that differ from what was published last."""
        published = self._state.config.setdefault(f"{system} {section} {item}", {})
        yield from changes(published, settings, self._envelope(system), section, item)

    def _envelope(self, system: str) -> Fields:
        return {"ts": self._ts, "system": system, "source": "hmc_feed"}

    def _nameless(self, detail: str) -> Reject:
        return Reject(Reason.BAD_HEADER, detail, "none", ts=self._ts)


def _owner(link: Object) -> re.Match[str] | None:
    return _OWNER.search(str(link.get("href", "")))


def _texts(holder: Object, name: str) -> list[str]:
    found = holder.get(name)
    return [one for one in found if isinstance(one, str)] if isinstance(found, list) else []


def _text(holder: Object, name: str) -> str | None:
    return next(filter(None, _texts(holder, name)), None)


def _within(holder: Any, pattern: str) -> Iterator[Any]:
    """Yield the values under names of a pattern at any depth, from the top."""
    waiting: list[Any] = [holder]
    while waiting:
        one = waiting.pop(0)
        if isinstance(one, dict):
            lists = {name: members for name, members in one.items() if isinstance(members, list)}
            for name, members in lists.items():
                yield from members if re.fullmatch(pattern, name) else ()
            waiting += [member for members in lists.values() for member in members]


_ROOT = rb'<(feed|entry)\s[^<>]{0,160}xmlns="http://www\.w3\.org/2005/Atom"'  # an entry within a feed has no xmlns
_BEHIND = rb"(?<!\?>)(?<!\?>\n)(?<!\?>\r\n)(?<!\?> )"  # what follows a declaration belongs to it
_START = re.compile(rb"<\?xml\b|" + _BEHIND + _ROOT)
_NAME = re.compile(_ROOT.decode())
_MANAGED = (b"vnd.ibm.powervm.uom", b"/systems/power/firmware/uom/")
_SHAPE = xml_trees.Shape(
    several=lambda name, depth: True,
    named=lambda name: name.rpartition(":")[2],
    kept=frozenset({"href", "rel"}),
)


def recognises(head: bytes) -> bool:
    """Return whether `head` begins with a feed or an entry of managed objects, not of links to metrics."""
    head = head.removeprefix(BOM).lstrip()
    root = re.search(_ROOT, head[:1024]) if head.startswith(b"<") else None
    return root is not None and any(mark in head for mark in _MANAGED)


def parse(stream: BinaryIO, context: Context, position: Position | None = None) -> Iterator[Item]:
    """Yield the records of every document; one that is damaged becomes a reject, and the next is read."""
    documents = Documents(_START, "<feed> … </feed>", decode=_decode, language="XML")
    return read_items(stream, position, context, documents, FeedState, items)


def _decode(written: str) -> tuple[Any, int]:
    found = _NAME.search(written)
    if found is None:
        raise ValueError("expected a feed or an entry of Atom")
    return xml_trees.decode(written, found[1], _SHAPE)
