"""`lshwres` and `lssyscfg` of an HMC: ports and partitions, as CSV with a header or as lists of name=value.

The commands write no time, so a line before each listing states it, `2026-11-21T18:50:00Z`, and, if wanted, the name of
the managed system.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import BinaryIO

from counterflow.collectors.formats.hmc_lshwres import names
from counterflow.collectors.records import Context, Fields, Item, Position, Reason, Record, Reject
from counterflow.collectors.text.attributes import Attributes, are_names, attributes, cells, those_set
from counterflow.collectors.text.codepages import text
from counterflow.collectors.text.keys import Times, is_new
from counterflow.collectors.text.lines import Line, read_lines
from counterflow.collectors.text.settings import changes
from counterflow.collectors.text.stamps import iso, stated
from counterflow.collectors.text.trees import number

MAX_LINES = 100_000
"""Lines of one listing; an adapter has some hundred logical ports."""

_STAMP = re.compile(r"\s*(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\S*)(?:\s+(\S.*?))?\s*$")
_MESSAGE = re.compile(r"HSC[A-Z0-9]{5}|No results were found")
_SUFFIX = re.compile(r"-S\d+$")
_HEXADECIMAL = re.compile(r"[0-9A-Fa-f]{1,8}")

_IN_COLUMNS = {*names.SYSTEM, *names.LOGICAL_PORT, *names.STATE, *names.CAPACITY_PCT}


@dataclass
class LshwresState:
    """State carried over from earlier listings: JSON values.

    `config` has the attributes published last for each port, `times` those of its rows; `counted` is how many rows the
    newest instant of each system has, by its time.
    """

    config: dict[str, Attributes] = field(default_factory=dict)
    times: Times = field(default_factory=dict)
    counted: dict[str, dict[str, int]] = field(default_factory=dict)


@dataclass
class Listing:
    """The lines behind one time; `managed` is the managed system that the time's line names."""

    first: Line
    ts: str | None = None
    managed: str | None = None
    lines: list[Line] = field(default_factory=list)
    too_many: int = 0


class HmcLshwres:
    """Listings of SR-IOV ports and of partitions; see README.md."""

    name = "hmc_lshwres"

    def recognises(self, head: bytes) -> bool:
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

    def parse(self, stream: BinaryIO, context: Context, position: Position | None = None) -> Iterator[Item]:
        """Yield the ports of every listing; the last one only where the data is complete."""
        state = LshwresState(**position.state) if position else LshwresState()
        offset, number = (position.byte_offset, position.line) if position else (0, 0)
        listing: Listing | None = None
        last: Line | None = None
        for line in read_lines(stream, offset, number):
            if line.fault is Reason.CUT_LINE and not context.complete:
                return  # the rest of it is still to be written
            last = line
            match = _STAMP.match(text(line.data))
            if match or listing is None:
                if listing is not None:
                    yield from _items(listing, state, context)
                    yield Position(line.offset, line.number - 1, asdict(state))
                listing = Listing(line, match[1] if match else None, match[2] if match else None)
            if match or not line.data.strip():
                continue
            if len(listing.lines) < MAX_LINES:
                listing.lines.append(line)
            else:
                listing.too_many += 1
        if not context.complete:
            return
        if listing is not None and last is not None:
            yield from _items(listing, state, context)
            yield Position(last.end, last.number, asdict(state))
        elif offset == 0:
            yield Reject(Reason.EMPTY_FILE, "the file is empty", "none")


def _items(listing: Listing, state: LshwresState, context: Context) -> Iterator[Item]:
    instant = stated(listing.ts, context.zone) if listing.ts else context.given_at
    ts = iso(instant) if instant else None
    header: list[str] | None = None
    rows: Counter[str] = Counter()
    for line in listing.lines:
        written = text(line.data)
        row = cells(written)
        if line.fault is Reason.LINE_TOO_LONG:
            yield _reject(line, Reason.LINE_TOO_LONG, "the line is longer than any of a listing", ts)
        elif _MESSAGE.match(written):
            yield Reject(Reason.RECORDER_MESSAGE, written.strip(), "all", line.number, line.offset, ts=ts)
        elif are_names(row) and (_is_port(row) or _is_partition(row)):
            header = row
        elif isinstance(found := _attributes(row, header), Reject):
            yield _placed(found, line, ts)
        elif ts is None:
            instead = f"; found {listing.ts}" if listing.ts else ""
            detail = f"expected a line with a time before it, 2026-11-21T18:50:00Z, or --at{instead}"
            yield _reject(line, Reason.STAMP_INVALID if listing.ts else Reason.STAMP_MISSING, detail)
        elif (system := context.system or _first(found, names.SYSTEM) or listing.managed) is None:
            detail = "expected lpar_name, or the managed system behind the time"
            yield _reject(line, Reason.BAD_HEADER, detail, ts)
        elif not _is_port(found):
            yield from _config(found, {"ts": ts, "system": system, "source": "hmc_lshwres"}, "partition", "", state)
        else:
            for item in _port(found, system, ts, listing.managed, state):
                rows[system] += isinstance(item, Record) and item.dataset == "link"
                yield _placed(item, line, ts) if isinstance(item, Reject) else item
    if listing.too_many:
        detail = f"{listing.too_many} lines more than the {MAX_LINES} of a listing that are read"
        yield _reject(listing.first, Reason.LINE_TOO_LONG, detail, ts)
    for system, count in rows.items():
        total = count + state.counted.get(system, {}).get(str(ts), 0)  # ports are listed by several commands
        state.counted[system] = {str(ts): total}
        counted = {"counted": "link", "row_count": total}
        yield Record("manifest", {"ts": ts, "system": system, "source": "hmc_lshwres", **counted})


def _port(found: Attributes, system: str, ts: str, managed: str | None, state: LshwresState) -> Iterator[Item]:
    """Yield the records of one port, and a reject for each value that is no number or out of range."""
    envelope: Fields = {"ts": ts, "system": system, "source": "hmc_lshwres"}
    logical = _first(found, names.LOGICAL_PORT)
    location = _first(found, names.LOGICAL_LOCATION if logical else names.PHYSICAL_LOCATION)
    adapter, port = _first(found, names.ADAPTER), _first(found, names.PHYSICAL_PORT)
    physical = _SUFFIX.sub("", location) if location else None
    if physical is None and None not in (managed, adapter, port):
        physical = f"{managed} {adapter} {port}"
    if logical is not None:
        kind = "logical_port"
        link = logical.upper().zfill(8) if _HEXADECIMAL.fullmatch(logical) else logical
    else:
        kind, link = "physical_port", str(physical)
    if not is_new(state.times, f"{system} {kind} {link}", ts):
        yield Reject(Reason.DUPLICATE_ROW, f"{link} of {system} was listed at {ts} already", "none")
        return
    fields: Fields = {"link": link, "link_type": kind}
    if physical is not None:
        fields["physical_port"] = physical
    if (functional := _first(found, names.STATE)) is not None:
        fields["state"] = functional
    for column, places, factor in (("capacity_pct", names.CAPACITY_PCT, 1), ("line_bits_s", names.LINE_MBITS_S, 1e6)):
        written = _first(found, places)
        if written is None:
            continue
        value = _number(written)
        if value is None:
            yield Reject(Reason.NOT_A_NUMBER, f"{column}: expected a number, found `{written:.40}`", "part")
        else:
            fields[column] = value * factor
    if not 0 <= fields.get("capacity_pct", 0) <= 100:
        detail = f"expected a capacity from 0 to 100 percent, found {fields.pop('capacity_pct')}"
        yield Reject(Reason.OUT_OF_RANGE, detail, "part")
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


def _is_port(found: Sequence[str] | set[str] | Mapping[str, str]) -> bool:
    ids = (*names.LOGICAL_PORT, *names.PHYSICAL_LOCATION)
    return any(name in found for name in names.ADAPTER) and any(name in found for name in ids)


def _is_partition(found: Sequence[str] | set[str] | Mapping[str, str]) -> bool:
    is_one = names.PARTITION_ID in found and any(name in found for name in names.SYSTEM)
    return is_one and not any(name in found for name in names.OTHERS)


def _number(written: str) -> float | None:
    try:
        found = float(written.removesuffix("%"))
    except ValueError:
        return None
    return number(found) if math.isfinite(found) else None


def _first(found: Mapping[str, str], places: Sequence[str]) -> str | None:
    return next((found[name] for name in places if name in found), None)


def _reject(line: Line, reason: Reason, detail: str, ts: str | None = None) -> Reject:
    return _placed(Reject(reason, detail, "none"), line, ts)


def _placed(reject: Reject, line: Line, ts: str | None) -> Reject:
    reject.line, reject.byte_offset, reject.raw, reject.ts = line.number, line.offset, line.raw, ts
    return reject


FORMAT = HmcLshwres()
