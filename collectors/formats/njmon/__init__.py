"""njmon: one JSON object per sample, in an array (v25) or one per line (newer), or nimon's lines; whole or growing."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Any, BinaryIO

from counterflow.collectors.formats.njmon import semantics as key
from counterflow.collectors.formats.njmon.figures import columns_of, measured
from counterflow.collectors.formats.njmon.influx import is_nimon, samples
from counterflow.collectors.formats.njmon.times import restored, taken
from counterflow.collectors.formats.njmon.tree import DECODER, Leaf, Tree, is_config, leaves_of, repaired, sections_of
from counterflow.collectors.records import (
    Context,
    Fields,
    Item,
    Position,
    Reason,
    Record,
    Reject,
    Table,
    Unusable,
    placed,
)
from counterflow.collectors.text.configured_name import kept_apart, name_of
from counterflow.collectors.text.documents import Documents, read_items
from counterflow.collectors.text.lines import read_head
from counterflow.collectors.text.refused import RefusedFigures
from counterflow.collectors.text.stamps import iso
from counterflow.collectors.text.trees import mapping, number

_REBOOT_S = 60

DOCUMENTS = Documents(
    re.compile(rb'\{\s{0,64}"timestamp"\s{0,64}:\s{0,64}\{'),
    '{"timestamp": {…}, …}',
    re.compile(
        rb'(?:[\s,\[\]{}]+|\xef\xbb\xbf|"samples"\s*:|"njmon_stats"\s*:\s*\{[^{}]*\}|"identity"\s*:\s*\{[^{}]*\})+'
    ),
    DECODER.raw_decode,
    repair=repaired,
)
_OF_SADF = re.compile(rb'(?:\xef\xbb\xbf)?\s*\{\s*"sysstat"\s*:')
"""Samples of sadf look alike, but lie within another object."""
_HOSTNAME = re.compile(rb'"(?:short)?hostname"\s*:\s*"([^"]+)"')


def recognises(head: bytes) -> bool:
    is_njmon = DOCUMENTS.start.search(head) is not None and not _OF_SADF.match(head)
    return is_njmon or is_nimon(head)


def parse(stream: BinaryIO, context: Context, position: Position | None = None) -> Iterator[Item]:
    """Yield the records of every whole sample; a damaged one becomes a reject, and the next is read."""
    at, is_cut = position or Position(0, 1), False
    if is_nimon(read_head(stream)):
        yield from _lines(stream, at, context)
        return
    for item in read_items(stream, at, context, DOCUMENTS, NjmonState, items, _between):
        if isinstance(item, Position):
            at = item
        elif isinstance(item, Reject):
            is_cut = is_cut or item.reason is Reason.CUT_FILE
            item.system = item.system or context.system or at.state.get("system")
        yield item
    if context.complete and at.state.get("open"):
        if not is_cut:
            detail = "the array of samples is not closed: the recorder was killed"
            yield Reject(Reason.CUT_FILE, detail, "all", at.line, at.byte_offset)
        yield Position(at.byte_offset, at.line, at.state | {"open": False})


def _between(text: bytes, state: NjmonState) -> None:
    """Remember the host that stands before the samples, and whether their array is open."""
    if hostname := _HOSTNAME.search(text):
        state.system = hostname[1].decode(errors="replace")
    if b"[" in text or b"]" in text:
        state.open = text.rfind(b"[") > text.rfind(b"]")


def _lines(stream: BinaryIO, at: Position, context: Context) -> Iterator[Item]:
    state = NjmonState(**at.state)
    for written in samples(stream, at.byte_offset, at.line, context.given_at):
        if written.is_last and not context.complete:
            return  # more lines of it may follow
        for refused, reason in written.refused:
            detail = "expected a line of InfluxDB: measurement,tags fields"
            yield Reject(reason, detail, "none", refused.number, refused.offset, raw=refused.raw)
        first = written.first
        try:
            for item in items(written.tree, state, context):
                yield placed(item, first.number, first.offset)
        except Unusable as error:
            why = str(error)
            if error.reason is Reason.STAMP_MISSING:
                why = "no line of the sample has a time, as nimon leaves it to InfluxDB: give it with --at"
            yield Reject(error.reason, why, "none", first.number, first.offset)
        yield Position(written.last.end, written.last.number + 1, asdict(state))


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


def items(tree: Tree, state: NjmonState, context: Context) -> Iterator[Item]:
    """Yield the records and rejects of a sample; `state` comes from the sample before and is updated.

    Raises
    ------
    Unusable : it has no time or no system, repeats the sample before, or is nested too deeply.
    """
    try:
        tree = sections_of(tree)
        leaves = {section: leaves_of(content) for section, content in tree.items() if section != "processes"}
    except RecursionError:
        raise Unusable(Reason.UNKNOWN_LINE, "the sample is nested too deeply") from None
    host = _hostname(mapping(tree.get("identity"))) or state.system
    last = Preceding(**state.hosts.get(host or "", {}))
    clock = restored(last.clock)
    is_first = clock.ts is None
    booted = number(mapping(tree.get("stat_counters")).get("btime"))
    is_boot = booted is not None and last.booted is not None and abs(booted - last.booted) > _REBOOT_S
    at = taken(tree, clock, context.zone, is_boot=is_boot)
    ts = at.instant
    state.named = state.named or host
    name = name_of(host, state.named, context.system)
    if name is None:
        raise Unusable(Reason.BAD_HEADER, "expected identity.hostname, which names the system")

    notes: list[Reject] = []
    refused = RefusedFigures()
    if is_first and (note := kept_apart(host, state.named, context.system)):
        note.ts = iso(ts)
        notes.append(note)
    notes += [_note(reason, detail, name, ts) for reason, detail in at.notes]
    if is_boot or last.booted is None:
        last.booted = booted

    envelope = _envelope(ts, name, last.booted)
    yield from notes
    yield from _config(leaves, last.config, envelope)
    preceding = last.counted if at.follows else {}
    rows: dict[str, list[Fields]] = {}
    for dataset, fields in measured(tree, leaves, at.rate_s, preceding, refused):
        found = rows.setdefault(dataset, [])
        if fields is not None:
            found.append(fields)
    seconds = {"system_cpu": at.mean_s, "counter": at.mean_s, "pool": at.counted_s}
    covering = {dataset: envelope | _length(seconds.get(dataset, at.rate_s)) for dataset in rows}
    yield from (Table(dataset, covering[dataset], columns_of(found)) for dataset, found in rows.items() if found)
    for dataset, found in rows.items():
        yield Record("manifest", {**covering[dataset], "counted": dataset, "row_count": len(found)})
    for reject in refused.rejects():
        reject.system, reject.ts = name, iso(ts)
        yield reject

    vmstat = mapping(tree.get("proc_vmstat"))
    counted = {k: number(vmstat.get(k)) for k in key.POOL_CUMULATIVE.values()}
    last.counted = {k: v for k, v in counted.items() if v is not None}
    last.clock = asdict(clock)
    state.system = host
    state.hosts[host or ""] = asdict(last)


def _envelope(ts: datetime, system: str, booted: float | None) -> Fields:
    envelope: Fields = {"ts": iso(ts), "system": system, "source": "njmon"}
    if booted is not None and 0 <= booted < 2**33:
        envelope["boot_id"] = f"{system} {iso(datetime.fromtimestamp(booted, UTC))}"
    return envelope


def _length(seconds: float | None) -> Fields:
    return {} if seconds is None else {"interval_s": seconds}


def _config(leaves: Mapping[str, list[Leaf]], published: dict[str, str], envelope: Fields) -> Iterator[Record]:
    """Yield the configuration of each section that differs from what was published last, as its digest shows.

    Processes have none: each changes its state at every sample.
    """
    for section, content in leaves.items():
        entries = [
            (instance, name, _text(value)) for instance, name, value in content if is_config(section, name, value)
        ]
        if not entries:
            continue
        digest = hashlib.blake2s(json.dumps(entries).encode(), digest_size=8).hexdigest()
        if published.get(section) != digest:
            published[section] = digest
            for item, name, value in entries:
                yield Record("config", {**envelope, "section": section, "item": item, "name": name, "value": value})


def _hostname(identity: Mapping[str, Any]) -> str | None:
    found = (identity.get(name) for name in ("shorthostname", "hostname"))
    return next((name for name in found if isinstance(name, str) and name), None)


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _note(reason: Reason, detail: str, system: str, ts: datetime) -> Reject:
    return Reject(reason, detail, "all", system=system, ts=iso(ts))
