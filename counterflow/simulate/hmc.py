"""The HMC: bytes of logical ports as processed metrics of PCM, and their capacity as `lshwres` lists it.

Packets are not published, so none are written. Whether the ports of a real adapter count RDMA is unknown; these do.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Any
from uuid import NAMESPACE_DNS, uuid5

from counterflow.simulate.case import Placed
from counterflow.simulate.model import Link, MirrorRun
from counterflow.simulate.spread import apportion

LINE_MBITS_S = 100_000
LISTED_AFTER = timedelta(seconds=1)
"""Time from the end of an interval to the listing of the ports."""


def pcm(server: str, placed: Sequence[Placed[MirrorRun]]) -> Iterator[str]:
    """Yield the documents of a managed system, one per partition with a link; figures are bytes a second."""
    for number, name in enumerate(_systems(server, placed), 1):
        samples: list[dict[str, Any]] = []
        for one in placed:
            for link in (link for system, link in _links(server, one) if system == name):
                sent, received = (apportion(round(r * one.seconds), one.weights) for r in link.flow[:2])
                for interval, out_bytes, in_bytes in zip(one.intervals, sent, received, strict=True):
                    port = {
                        "drcIndex": str(drc_index(number)),
                        "physicalLocation": f"{_physical_port(server)}-S{number}",
                        "physicalDrcIndex": "553713681",
                        "physicalPortId": 0,
                        "sentBytes": [round(out_bytes / interval.seconds, 3)],
                        "receivedBytes": [round(in_bytes / interval.seconds, 3)],
                        "transferredBytes": [round((out_bytes + in_bytes) / interval.seconds, 3)],
                    }
                    partition = {
                        "id": number,
                        "uuid": _uuid(name),
                        "name": name,
                        "state": "Running",
                        "type": "OS400",
                        "network": {"sriovLogicalPorts": [port]},
                    }
                    at = f"{interval.end:%Y-%m-%dT%H:%M:%S}+0000"
                    samples.append({"sampleInfo": {"timeStamp": at, "status": 0}, "lparsUtil": [partition]})
        info = {
            "version": "1.3.0",
            "metricType": "Processed",
            "frequency": placed[0].intervals[0].seconds,
            "startTimeStamp": samples[0]["sampleInfo"]["timeStamp"],
            "endTimeStamp": samples[-1]["sampleInfo"]["timeStamp"],
            "mtms": f"9009-42G*{server}",
            "name": server,
            "uuid": _uuid(server),
            "metricArrayOrder": ["AVG"],
        }
        yield json.dumps({"systemUtil": {"utilInfo": info, "utilSamples": samples}}, separators=(",", ":"))


def lshwres(server: str, placed: Sequence[Placed[MirrorRun]]) -> Iterator[str]:
    """Yield listings of a managed system's logical ports and their physical port, each after its time."""
    for one in placed:
        links = list(_links(server, one))
        for interval in one.intervals:
            yield f"{interval.end + LISTED_AFTER:%Y-%m-%dT%H:%M:%SZ} {server}"
            yield "lpar_name,adapter_id,logical_port_id,phys_port_id,location_code,functional_state,capacity"
            for number, (system, link) in enumerate(links, 1):
                location = f"{_physical_port(server)}-S{number}"
                yield f"{system},1,{drc_index(number):08x},0,{location},1,{link.capacity_pct:.2f}"
            yield "adapter_id,phys_port_id,phys_port_loc,state,curr_conn_speed"
            yield f"1,0,{_physical_port(server)},1,{LINE_MBITS_S}"


def location_code(server: str, system: str, placed: Sequence[Placed[MirrorRun]]) -> str:
    """Return the location of the logical port of a partition, as IBM i and the HMC write it."""
    return f"{_physical_port(server)}-S{_systems(server, placed).index(system) + 1}"


def _physical_port(server: str) -> str:
    """Return the location of the one physical port of a managed system."""
    return f"U78D3.001.{server}-P1-C2-T1"


def drc_index(number: int) -> int:
    """Return the index of the logical port of the partition with that number."""
    return 0x27004000 + number


def _systems(server: str, placed: Sequence[Placed[MirrorRun]]) -> list[str]:
    """Return the partitions with a link over a managed system's port, in order of appearance."""
    return list(dict.fromkeys(system for one in placed for system, _ in _links(server, one)))


def _links(server: str, placed: Placed[MirrorRun]) -> Iterator[tuple[str, Link]]:
    for partition in placed.run.partitions:
        if partition.link is not None and partition.link.server == server:
            yield partition.system, partition.link


def _uuid(name: str) -> str:
    return str(uuid5(NAMESPACE_DNS, f"{name}.example"))
