"""One document as a tree, and the link records of its samples.

Source: IBM's JSON specification of processed metrics (logical partition, managed system) and documents of real HMCs in
the tests of github.com/mnellemann/hmci. There, every figure times 30 is a whole number and `transferredBytes` is the
sum of both directions: the figures are averages per second of the 30 s sample.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from counterflow.collectors.records import Context, Fields, Item, Reason, Record, Reject
from counterflow.collectors.text.documents import Unusable
from counterflow.collectors.text.settings import changes
from counterflow.collectors.text.spans import Samples, Spans
from counterflow.collectors.text.stamps import iso, stated
from counterflow.collectors.text.trees import mapping, mappings, number

PER_SECOND = {
    "out_packets": "sentPackets",
    "in_packets": "receivedPackets",
    "out_errors": "errorOut",
    "in_errors": "errorIn",
    "out_dropped": "droppedSentPackets",
    "in_dropped": "droppedReceivedPackets",
}
"""Columns of `link`: these figures times the length of the interval."""
BYTES_PER_SECOND = {"out_kb": "sentBytes", "in_kb": "receivedBytes"}
COUNTED = {"droppedPackets": "packets/s", "transferredBytes": "bytes/s"}
"""Figures of both directions together, which no column of `link` holds."""

_NAMING = ("drcIndex", "physicalLocation", "physicalDrcIndex", "physicalPortId", "id")
_LOGICAL_PORT = re.compile(r"-S\d+$")


@dataclass
class PcmState:
    """State carried over from earlier documents: JSON values, written with every commit.

    `seen` is what was read of each partition and managed system: documents may overlap, and come in any order. `config`
    holds the texts published last for each port.
    """

    seen: dict[str, Spans] = field(default_factory=dict)
    config: dict[str, dict[str, str]] = field(default_factory=dict)


def items(tree: Any, state: PcmState, context: Context) -> Iterator[Item]:
    """Yield the records and rejects of a document; `state` is updated.

    Raises
    ------
    Unusable : it holds no processed metrics.
    """
    util = mapping(mapping(tree).get("systemUtil"))
    info, samples = mapping(util.get("utilInfo")), util.get("utilSamples")
    if info.get("metricType") != "Processed" or not isinstance(samples, list):
        found = info.get("metricType")
        detail = f"expected metricType Processed with utilSamples, found {found}: fetch /rest/api/pcm/ProcessedMetrics"
        raise Unusable(Reason.NOT_THIS_FORMAT, detail)
    seconds = number(info.get("frequency"))
    if seconds is None or seconds <= 0:
        detail = f"expected utilInfo.frequency in seconds, found {info.get('frequency')}"
        raise Unusable(Reason.BAD_HEADER, detail)
    order = [str(name).lower() for name in info.get("metricArrayOrder") or ["avg"]]
    average = order.index("avg") if "avg" in order else 0
    repeated = 0
    read: dict[str, Samples] = {}
    for sample in map(mapping, samples):
        written = mapping(sample.get("sampleInfo")).get("timeStamp")
        instant = stated(written, context.zone)
        if instant is None:
            detail = f"expected sampleInfo.timeStamp as YYYY-MM-DDThh:mm:ss+hhmm, found {written}"
            yield Reject(Reason.STAMP_INVALID if written else Reason.STAMP_MISSING, detail, "none")
            continue
        instant = instant.replace(microsecond=0)
        repeated += yield from _sample(sample, info, instant, seconds, average, read, state, context)
        yield from _messages(sample, iso(instant))
    for key, samples_read in read.items():
        for ts, detail in samples_read.gaps():
            yield Reject(Reason.SAMPLE_MISSING, f"{key}: {detail}", "all", system=samples_read.system, ts=ts)
    state.seen |= {key: samples_read.spans() for key, samples_read in read.items()}
    if repeated:
        detail = f"samples of partitions and systems that an earlier document holds: {repeated}"
        yield Reject(Reason.DUPLICATE_ROW, detail, "none")


def _sample(
    sample: Mapping[str, Any],
    info: Mapping[str, Any],
    instant: datetime,
    seconds: float,
    average: int,
    read: dict[str, Samples],
    state: PcmState,
    context: Context,
) -> Generator[Item, None, int]:
    """Yield the records of a sample; return the number of its systems of which it was read before."""
    repeated, ts = 0, iso(instant)
    for key, system, links in _systems(sample, info, context):
        if system is None:
            yield Reject(Reason.BAD_HEADER, f"expected a name of {key}", "none", ts=ts)
            continue
        if not read.setdefault(key, Samples(state.seen.get(key, []), system)).is_new(instant, seconds):
            repeated += 1
            continue
        envelope: Fields = {"ts": ts, "system": system, "source": "hmc_pcm"}
        measured = {**envelope, "interval_s": seconds}
        rows: Counter[str] = Counter(link=0)
        refused: list[str] = []
        for naming, port in links:
            fields = {**naming, **_amounts(naming["link"], port, seconds, average, refused)}
            yield Record("link", {**measured, **fields})
            rows["link"] += 1
            for name, unit in COUNTED.items():
                if (value := _figure(naming["link"], port, name, average, refused)) is not None:
                    counted = {"section": naming["link_type"], "instance": naming["link"], "counter": name}
                    yield Record("counter", {**measured, **counted, "value": value, "unit": unit, "kind": "rate"})
                    rows["counter"] += 1
            yield from _config(key, naming, port, info, state, envelope)
        for dataset, count in rows.items():
            yield Record("manifest", {**measured, "counted": dataset, "row_count": count})
        if refused:
            shown = "; ".join(refused[:20])
            yield Reject(Reason.OUT_OF_RANGE, f"{len(refused)} figures: {shown}", "part", system=system, ts=ts)
    return repeated


def _systems(
    sample: Mapping[str, Any], info: Mapping[str, Any], context: Context
) -> Iterator[tuple[str, str | None, list[tuple[Fields, Mapping[str, Any]]]]]:
    """Yield a key, the name and the ports of every partition, VIOS and managed system that lists any.

    A managed system lists the ports of its adapters, a partition those the hypervisor carved out for it.
    """
    server = mapping(mapping(sample.get("serverUtil")).get("network"))
    if isinstance(adapters := server.get("sriovAdapters"), list):
        ports = [port for adapter in map(mapping, adapters) for port in mappings(adapter.get("physicalPorts"))]
        yield f"system {info.get('uuid')}", _name(info), [(_physical(port), port) for port in ports]
    for kind in ("lparsUtil", "viosUtil"):
        for partition in mappings(sample.get(kind)):
            network = mapping(partition.get("network"))
            if isinstance(network.get("sriovLogicalPorts"), list):
                ports = mappings(network["sriovLogicalPorts"])
                key = f"partition {partition.get('uuid') or partition.get('id')} {info.get('uuid')}"
                yield key, context.system or _name(partition), [(_logical(port, info), port) for port in ports]


def _logical(port: Mapping[str, Any], info: Mapping[str, Any]) -> Fields:
    """Return a logical port's naming fields: the DRC index as the HMC's commands write it, eight hexadecimal digits."""
    index, location = str(port.get("drcIndex") or ""), str(port.get("physicalLocation") or "")
    link = f"{int(index):08X}" if index.isdecimal() else index or location
    port_location = _LOGICAL_PORT.sub("", location)
    if not port_location:
        port_location = f"{info.get('mtms')} {port.get('physicalDrcIndex')} {port.get('physicalPortId')}"
    return {"link": link, "link_type": "logical_port", "physical_port": port_location}


def _physical(port: Mapping[str, Any]) -> Fields:
    location = str(port.get("physicalLocation") or port.get("id"))
    return {"link": location, "link_type": "physical_port", "physical_port": location}


def _amounts(link: str, port: Mapping[str, Any], seconds: float, average: int, refused: list[str]) -> Fields:
    fields: Fields = {}
    for column, name in PER_SECOND.items():
        if (rate := _figure(link, port, name, average, refused)) is not None:
            fields[column] = round(rate * seconds, 3)
    for column, name in BYTES_PER_SECOND.items():
        if (rate := _figure(link, port, name, average, refused)) is not None:
            fields[column] = round(rate * seconds / 1024, 6)
    return fields


def _figure(link: str, port: Mapping[str, Any], name: str, average: int, refused: list[str]) -> float | None:
    """Return the average of a figure; None where it is missing, or refused with its name in `refused`."""
    if name not in port:
        return None
    value = port[name]
    if isinstance(value, list):
        value = value[average] if average < len(value) else None
    figure = number(value)
    if figure is None or figure < 0:
        refused.append(f"{link}.{name}: {port[name]!r:.60}")
        return None
    return figure


def _config(
    key: str, naming: Fields, port: Mapping[str, Any], info: Mapping[str, Any], state: PcmState, envelope: Fields
) -> Iterator[Record]:
    """Yield the texts of a port that differ from what was published last."""
    found = {name: value for name, value in port.items() if isinstance(value, str) and name not in _NAMING}
    found["mtms"] = str(info.get("mtms"))
    published = state.config.setdefault(f"{key} {naming['link']}", {})
    yield from changes(published, found, envelope, naming["link_type"], naming["link"])


def _messages(sample: Mapping[str, Any], ts: str) -> Iterator[Reject]:
    for error in mappings(mapping(sample.get("sampleInfo")).get("errorInfo")):
        detail = f"{error.get('reportedBy')} {error.get('errId')}: {error.get('errMsg')}"
        yield Reject(Reason.RECORDER_MESSAGE, detail, "all", ts=ts)


def _name(holder: Mapping[str, Any]) -> str | None:
    name = holder.get("name")
    return name if isinstance(name, str) and name else None
