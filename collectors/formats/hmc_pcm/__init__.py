"""Processed metrics of the HMC's Performance and Capacity Monitoring (PCM): JSON documents, one behind the other.

Source: IBM's JSON specification of processed metrics (logical partition, managed system) and documents of real HMCs in
the tests of github.com/mnellemann/hmci. There, every figure times 30 is a whole number and `transferredBytes` is the
sum of both directions: the figures are averages per second of the 30 s sample.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from itertools import chain
from typing import Any, BinaryIO, NamedTuple

from counterflow.collectors.formats.hmc_pcm.figures import (
    PORT_NAMING,
    Averages,
    Port,
    logical_ports,
    partition_rows,
    partition_settings,
    physical_ports,
)
from counterflow.collectors.records import Context, Fields, Item, Position, Reason, Record, Reject, Unusable
from counterflow.collectors.text.configured_name import kept_apart, name_of
from counterflow.collectors.text.documents import Documents, read_items
from counterflow.collectors.text.refused import RefusedFigures
from counterflow.collectors.text.settings import changes
from counterflow.collectors.text.spans import Samples, Spans
from counterflow.collectors.text.stamps import iso, stated
from counterflow.collectors.text.trees import mapping, mappings, number
from counterflow.schemas.mapping import amounts, counters

SOURCE = "hmc_pcm"
_PROCESSED = "/rest/api/pcm/ManagedSystem/{uuid}/ProcessedMetrics"
_NOT_OF_THE_SERVER = frozenset(("sampleType", "sampleInfo", "serverUtil", "energyUtil", "lparsUtil", "viosUtil"))
_READ_AS_PORTS = frozenset(("sriovLogicalPorts", "physicalPorts"))

_DOCUMENTS = Documents(re.compile(rb'\{\s{0,64}"systemUtil"\s{0,64}:'), '{"systemUtil": …}')
"""Two hours of a partition are about 10 MB."""


def recognises(head: bytes) -> bool:
    return _DOCUMENTS.start.search(head) is not None


def parse(stream: BinaryIO, context: Context, position: Position | None = None) -> Iterator[Item]:
    """Yield the ports of every sample; a document that is damaged becomes a reject, and the next is read."""
    return read_items(stream, position, context, _DOCUMENTS, PcmState, items)


@dataclass
class PcmState:
    """State carried over from earlier documents: JSON values, written with every commit.

    `seen` is what was read of each partition and managed system, by the name that their rows have: documents may
    overlap, and come in any order. `config` holds the texts published last for each port and partition. `named` is the
    partition that the name of the context stands for, the first one.
    """

    seen: dict[str, Spans] = field(default_factory=dict)
    config: dict[str, dict[str, str]] = field(default_factory=dict)
    named: str | None = None


class _System(NamedTuple):
    """A partition, VIOS or managed system of a sample.

    `rows` are its rows by dataset, but for ports and counters; `counted` the part of the sample whose other figures are
    counters. `source` sets its manifest apart from that of another document with the same times. `note` reports that it
    is not the one that the configured name stands for.
    """

    key: str
    name: str | None
    counted: Mapping[str, Any]
    ports: list[Port] | None = None
    rows: Iterable[tuple[str, Fields]] = ()
    settings: Mapping[str, str] = {}
    source: str = SOURCE
    note: Reject | None = None


def items(tree: Any, state: PcmState, context: Context) -> Iterator[Item]:
    """Yield the records and rejects of a document; `state` is updated.

    Raises
    ------
    Unusable : it holds no processed metrics.
    """
    util = mapping(mapping(tree).get("systemUtil"))
    info, samples = mapping(util.get("utilInfo")), util.get("utilSamples")
    if info.get("metricType") != "Processed" or not isinstance(samples, list):
        found = " ".join(str(info[name]) for name in ("monitoringType", "metricType") if name in info) or "none"
        detail = f"expected metricType Processed with utilSamples, found {found:.60}: fetch {_PROCESSED}"
        raise Unusable(Reason.NOT_THIS_FORMAT, detail)
    seconds = number(info.get("frequency"))
    if seconds is None or seconds <= 0:
        detail = f"expected utilInfo.frequency in seconds, found {info.get('frequency')}"
        raise Unusable(Reason.BAD_HEADER, detail)
    if not samples:
        raise Unusable(Reason.EMPTY_SNAPSHOT, "utilSamples is empty: the HMC had no metrics of this time")
    order = [str(name).lower() for name in info.get("metricArrayOrder") or ["avg"]]
    place = order.index("avg") if "avg" in order else 0
    read: dict[str, Samples] = {}
    for sample in map(mapping, samples):
        written = mapping(sample.get("sampleInfo")).get("timeStamp")
        instant = stated(written, context.zone)
        if instant is None:
            detail = f"expected sampleInfo.timeStamp as YYYY-MM-DDThh:mm:ss+hhmm, found {written}"
            yield Reject(Reason.STAMP_INVALID if written else Reason.STAMP_MISSING, detail, "none")
            continue
        instant = instant.replace(microsecond=0)
        yield from _sample(sample, info, instant, seconds, place, read, state, context)
        yield from _messages(sample, iso(instant))
    for key, samples_read in read.items():
        for ts, detail in samples_read.gaps():
            yield Reject(Reason.SAMPLE_MISSING, f"{key}: {detail}", "all", system=samples_read.system, ts=ts)
    state.seen |= {key: samples_read.spans() for key, samples_read in read.items()}
    if repeated := [found for found in read.values() if found.repeated]:
        names = ", ".join([*dict.fromkeys(found.system for found in repeated)][:5])
        count = sum(found.repeated for found in repeated)
        detail = f"samples with the name and time of one that was read before: {count}, of {names}"
        yield Reject(Reason.DUPLICATE_ROW, detail, "none")


def _sample(
    sample: Mapping[str, Any],
    info: Mapping[str, Any],
    instant: datetime,
    seconds: float,
    place: int,
    read: dict[str, Samples],
    state: PcmState,
    context: Context,
) -> Iterator[Item]:
    """Yield the records of a sample, but for systems of which it was read before."""
    ts = iso(instant)
    averages = Averages(place)
    systems = [*_systems(sample, info, averages, state, context)]
    if not systems:
        instead = "errorInfo alone" if mapping(sample.get("sampleInfo")).get("errorInfo") else "nothing"
        detail = f"expected partitions or a managed system in the sample, found {instead}"
        yield Reject(Reason.EMPTY_SNAPSHOT, detail, "none", ts=ts)
    for system in systems:
        if system.name is None:
            yield Reject(Reason.BAD_HEADER, f"expected a name of {system.key}", "none", ts=ts)
            continue
        known = state.seen.get(system.key, [])
        if system.note is not None and not known and system.key not in read:
            yield system.note
        if not read.setdefault(system.key, Samples(known, system.name)).is_new(instant, seconds):
            continue
        yield from _records(system, system.name, info, ts, seconds, averages, state)


def _records(
    system: _System,
    name: str,
    info: Mapping[str, Any],
    ts: str,
    seconds: float,
    averages: Averages,
    state: PcmState,
) -> Iterator[Item]:
    """Yield the records of one system of a sample."""
    envelope: Fields = {"ts": ts, "system": name, "source": SOURCE}
    measured = {**envelope, "interval_s": seconds}
    averages.refused = RefusedFigures()
    rows: Counter[str] = Counter() if system.ports is None else Counter(link=0)
    mtms = {"mtms": str(info.get("mtms"))}
    found: list[Iterable[tuple[str, Fields]]] = [system.rows]
    for naming, port in system.ports or ():
        link, link_type = naming["link"], naming["link_type"]
        read = counters(SOURCE, "link")
        known = ((name, averages.of(link, port, name)) for name in port if name in read)
        figures = {name: figure for name, figure in known if figure is not None}
        found.append([("link", {**naming, **amounts(SOURCE, "link", figures, seconds)})])
        found.append(("counter", row) for row in averages.counters(link_type, link, port, read))
        texts = {n: value for n, value in port.items() if isinstance(value, str) and n not in PORT_NAMING}
        published = state.config.setdefault(f"{system.key} {link}", {})
        yield from changes(published, texts | mtms, envelope, link_type, link)
    if system.settings:
        yield from changes(
            state.config.setdefault(system.key, {}), {**system.settings, **mtms}, envelope, "partition", ""
        )
    found.append(("counter", row) for row in averages.counters("", "", system.counted, _READ_AS_PORTS))
    for dataset, fields in chain.from_iterable(found):
        yield Record(dataset, {**measured, **fields})
        rows[dataset] += 1
    for dataset, count in rows.items():
        yield Record("manifest", {**measured, "source": system.source, "counted": dataset, "row_count": count})
    for reject in averages.refused.rejects():
        reject.system, reject.ts = name, ts
        yield reject


def _systems(
    sample: Mapping[str, Any], info: Mapping[str, Any], averages: Averages, state: PcmState, context: Context
) -> Iterator[_System]:
    """Yield every partition, VIOS and managed system of a sample.

    A managed system lists the ports of its adapters, a partition those the hypervisor carved out for it. What a managed
    system's processors did is the sum of its partitions', so it is counted beside them and in no row of `system_cpu`.
    """
    name = _name(info)
    key = f"system {name or info.get('uuid')}"
    server = mapping(sample.get("serverUtil"))
    whole = {**server, **{name: part for name, part in sample.items() if name not in _NOT_OF_THE_SERVER}}
    if whole:
        listed = isinstance(mapping(server.get("network")).get("sriovAdapters"), list)
        yield _System(key, name, whole, [*physical_ports(server)] if listed else None)
    if energy := mapping(sample.get("energyUtil")):
        # the HMC writes it into documents of its own
        yield _System(f"energy {key}", name, {"energyUtil": energy}, source=f"{SOURCE}.energyUtil")
    for kind in ("lparsUtil", "viosUtil"):
        for one in mappings(sample.get(kind)):
            listed = isinstance(mapping(one.get("network")).get("sriovLogicalPorts"), list)
            written = _name(one)
            state.named = state.named or written
            name = written and name_of(written, state.named, context.system)
            yield _System(
                f"partition {name or one.get('uuid') or one.get('id')}",
                name,
                {part: content for part, content in one.items() if part not in ("processor", "memory")},
                [*logical_ports(one, info)] if listed else None,
                partition_rows(one, averages),
                partition_settings(one),
                note=kept_apart(written, state.named, context.system),
            )


def _messages(sample: Mapping[str, Any], ts: str) -> Iterator[Reject]:
    for error in mappings(mapping(sample.get("sampleInfo")).get("errorInfo")):
        detail = f"errorInfo of {error.get('reportedBy')}, {error.get('errId')}: {error.get('errMsg')}"
        yield Reject(Reason.RECORDER_MESSAGE, detail, "all", ts=ts)


def _name(holder: Mapping[str, Any]) -> str | None:
    name = holder.get("name")
    return name if isinstance(name, str) and name else None
