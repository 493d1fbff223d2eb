"""The records that a sample becomes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Any

from counterflow.collectors.formats.njmon import semantics as key
from counterflow.collectors.formats.njmon.figures import columns_of, measured
from counterflow.collectors.formats.njmon.times import restored, taken
from counterflow.collectors.formats.njmon.tree import Leaf, Tree, is_config, leaves_of, sections_of
from counterflow.collectors.records import Context, Fields, Item, Reason, Record, Reject, Table, Unusable
from counterflow.collectors.text.configured_name import kept_apart, name_of
from counterflow.collectors.text.refused import RefusedFigures
from counterflow.collectors.text.stamps import iso
from counterflow.collectors.text.trees import mapping, number

_REBOOT_S = 60


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
