"""`lshwres` and `lssyscfg` of an HMC: ports and partitions, as CSV with a header or as lists of name=value.

The commands write no time, so a line before each listing states it, `2026-11-21T18:50:00Z`, and, if wanted, the name of
the managed system.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import asdict, dataclass, field
from typing import BinaryIO

from counterflow.collectors.records import Context, Fields, Item, Position, Reason, Record, Reject, Unusable
from counterflow.collectors.text.attributes import Attributes, are_names, attributes, cells, those_set
from counterflow.collectors.text.codepages import text
from counterflow.collectors.text.keys import Times, is_new
from counterflow.collectors.text.lines import Line, read_items
from counterflow.collectors.text.numbers import number_of
from counterflow.collectors.text.settings import changes
from counterflow.collectors.text.stamps import iso, stated

# The attributes that fill columns: where several names are given, the first that the listing has counts. Names marked
# *used* were read on an HMC V10R3 by public code (hmcpctl) or by Linux' own SR-IOV tests (op-test, avocado); the others
# are unverified.
SYSTEM = ("lpar_name", "name")  # used; the second in lssyscfg -r lpar
PARTITION_ID = "lpar_id"  # used
OTHERS = ("resource_type", "event_type", "time_cycles", "uncapped_cycles", "drc_index", "slot_num")
"""Listings with these are of something else: utilisation, slots."""
LOGICAL_PORT = "logical_port_id"  # used: the DRC index, in hexadecimal
LOGICAL_LOCATION = "location_code"  # used
PHYSICAL_LOCATION = "phys_port_loc"  # used, in listings of physical ports
ADAPTER = "adapter_id"  # used
PHYSICAL_PORT = "phys_port_id"  # used

STATE = ("functional_state", "state")  # used: of a logical port, of a physical port; 1 is functional
CAPACITY_PCT = ("capacity", "curr_capacity", "curr_eth_capacity")  # used: the first; IBM: a percentage, two decimals
LINE_MBITS_S = ("curr_conn_speed", "conn_speed")  # unverified: the unit is that of other adapters, Mb/s

_STAMP = re.compile(r"\s*(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\S*)(?:\s+(\S.*?))?\s*$")
_MESSAGE = re.compile(r"HSC[A-Z0-9]{5}|No results were found")
_SUFFIX = re.compile(r"-S\d+$")
_HEXADECIMAL = re.compile(r"[0-9A-Fa-f]{1,8}")

_IN_COLUMNS = {*SYSTEM, LOGICAL_PORT, *STATE, *CAPACITY_PCT}


@dataclass
class LshwresState:
    """State carried over from earlier lines: JSON values.

    Of the open listing, `written` is the time, `managed` the managed system, `header` the names of attributes, `rows`
    how many rows each system has. `config` has the attributes published last for each port, `times` those of its rows;
    `counted` is how many rows the newest instant of each system has, by its time.
    """

    written: str | None = None
    managed: str | None = None
    header: list[str] = field(default_factory=list)
    rows: dict[str, int] = field(default_factory=dict)
    config: dict[str, Attributes] = field(default_factory=dict)
    times: Times = field(default_factory=dict)
    counted: dict[str, dict[str, int]] = field(default_factory=dict)


def recognises(head: bytes) -> bool:
    """Return whether a line of `head` names or holds the attributes of a port or a partition."""
    for data in head.split(b"\n")[:1000]:
        if b"adapter_id" not in data and b"lpar_id" not in data:
            continue
        row = cells(text(data))
        found = {cell.partition("=")[0] for cell in row}
        alike = {"=" in cell for cell in row}
        if len(alike) == 1 and are_names(found) and (_is_port(found) or _is_partition(found)):
            return True
    return False


def parse(stream: BinaryIO, context: Context, position: Position | None = None) -> Iterator[Item]:
    """Yield the ports of every line, and behind each listing how many there are."""
    at = position or Position(0, 0)
    for item in read_items(stream, position, context, LshwresState, _items):
        if isinstance(item, Position):
            at = item
        yield item
    state = LshwresState(**deepcopy(at.state))
    if context.complete and state.rows:
        yield from _manifests(state, context)
        yield Position(at.byte_offset, at.line, asdict(state))


def _items(line: Line, state: LshwresState, context: Context) -> Iterator[Item]:
    written = text(line.data)
    if match := _STAMP.match(written):
        yield from _manifests(state, context)
        state.written, state.managed, state.header = match[1], match[2], []
        return
    ts, row = _ts(state, context), cells(written)
    if not written.strip():
        return
    if line.fault is Reason.LINE_TOO_LONG:
        yield Reject(Reason.LINE_TOO_LONG, "the line is longer than any of a listing", "none", ts=ts)
    elif _MESSAGE.match(written):
        yield Reject(Reason.RECORDER_MESSAGE, written.strip(), "all", ts=ts)
    elif are_names(row) and (_is_port(row) or _is_partition(row)):
        state.header = row
    elif isinstance(found := _attributes(row, state.header), Reject):
        found.ts = ts
        yield found
    elif ts is None:
        instead = f"; found {state.written}" if state.written else ""
        detail = f"expected a line with a time before it, 2026-11-21T18:50:00Z, or --at{instead}"
        yield Reject(Reason.STAMP_INVALID if state.written else Reason.STAMP_MISSING, detail, "none")
    elif (system := context.system or _first(found, SYSTEM) or state.managed) is None:
        detail = "expected lpar_name, or the managed system behind the time"
        yield Reject(Reason.BAD_HEADER, detail, "none", ts=ts)
    elif not _is_port(found):
        yield from _config(found, {"ts": ts, "system": system, "source": "hmc_lshwres"}, "partition", "", state)
    else:
        yield from _port(found, system, ts, state)


def _ts(state: LshwresState, context: Context) -> str | None:
    instant = stated(state.written, context.zone) if state.written else context.given_at
    return iso(instant) if instant else None


def _manifests(state: LshwresState, context: Context) -> Iterator[Record]:
    """Yield how many rows the instant of the listing has so far: ports are listed by several commands."""
    ts = str(_ts(state, context))
    for system, count in state.rows.items():
        total = count + state.counted.get(system, {}).get(ts, 0)
        state.counted[system] = {ts: total}
        counted = {"counted": "link", "row_count": total}
        yield Record("manifest", {"ts": ts, "system": system, "source": "hmc_lshwres", **counted})
    state.rows = {}


def _port(found: Attributes, system: str, ts: str, state: LshwresState) -> Iterator[Item]:
    """Yield the records of one port, and a reject for each value that is no number or out of range."""
    envelope: Fields = {"ts": ts, "system": system, "source": "hmc_lshwres"}
    logical = found.get(LOGICAL_PORT)
    location = found.get(LOGICAL_LOCATION if logical else PHYSICAL_LOCATION)
    adapter, port = found.get(ADAPTER), found.get(PHYSICAL_PORT)
    physical = _SUFFIX.sub("", location) if location else None
    if physical is None and None not in (state.managed, adapter, port):
        physical = f"{state.managed} {adapter} {port}"
    if logical is not None:
        kind = "logical_port"
        link = logical.upper().zfill(8) if _HEXADECIMAL.fullmatch(logical) else logical
    else:
        kind, link = "physical_port", str(physical)
    if not is_new(state.times, f"{system} {kind} {link}", ts):
        yield Reject(Reason.DUPLICATE_ROW, f"{link} of {system} was listed at {ts} already", "none", ts=ts)
        return
    fields: Fields = {"link": link, "link_type": kind}
    if physical is not None:
        fields["physical_port"] = physical
    if (functional := _first(found, STATE)) is not None:
        fields["state"] = functional
    for column, places, factor in (("capacity_pct", CAPACITY_PCT, 1), ("line_bits_s", LINE_MBITS_S, 1e6)):
        try:
            if (value := number_of((_first(found, places) or "").removesuffix("%"))) is not None:
                fields[column] = value * factor
        except Unusable as error:
            yield Reject(error.reason, f"{column}: {error}", "part", ts=ts)
    state.rows[system] = state.rows.get(system, 0) + 1
    yield Record("link", {**envelope, **fields})
    yield from _config(found, envelope, kind, link, state)


def _config(found: Attributes, envelope: Fields, section: str, item: str, state: LshwresState) -> Iterator[Record]:
    """Yield the attributes that differ from those that were published last."""
    settings = {name: value for name, value in found.items() if name not in _IN_COLUMNS}
    published = state.config.setdefault(f"{envelope['system']} {section} {item}", {})
    yield from changes(published, settings, envelope, section, item)


def _attributes(row: Sequence[str], header: Sequence[str] | None) -> Attributes | Reject:
    """Return the attributes of a port or a partition that are set, by name."""
    found = attributes(row, header)
    if isinstance(found, Reject):
        return found
    if not (_is_port(found) or _is_partition(found)):
        detail = "expected adapter_id with logical_port_id or phys_port_loc, or lpar_id with the name of the partition"
        return Reject(Reason.UNKNOWN_LINE, detail, "none")
    return those_set(found)


def _is_port(found: Collection[str]) -> bool:
    return ADAPTER in found and (LOGICAL_PORT in found or PHYSICAL_LOCATION in found)


def _is_partition(found: Collection[str]) -> bool:
    # a profile of a partition has both names, of which `name` is its own
    is_one = PARTITION_ID in found and sum(name in found for name in SYSTEM) == 1
    return is_one and not any(name in found for name in OTHERS)


def _first(found: Mapping[str, str], places: Sequence[str]) -> str | None:
    return next((found[name] for name in places if name in found), None)
