"""Db2 Mirror: the running counts of a partition's RDMA link, and the settings that lead from it to its port.

The counts are rows of NRG_INFO and RDMA_LINK_INFO. The settings are one sample each of NRG_LINK_INFO, MIRROR_INFO,
NETSTAT_INTERFACE_INFO, HARDWARE_RESOURCE_INFO, PRESTART_JOB_INFO and JOURNALED_OBJECTS, and QAPMETH with the resource
of the line in each interval.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from counterflow.simulate.case import Placed
from counterflow.simulate.hmc import location_code
from counterflow.simulate.layout import Row, interval_fields, sample_fields
from counterflow.simulate.model import Link, MirrorRun
from counterflow.simulate.spread import apportion

COUNTERS = ("OUTBOUND_RDMA_BYTES", "INBOUND_RDMA_BYTES", "OUTBOUND_MESSAGES", "INBOUND_MESSAGES")
TROUBLE = ("DROPPED_PACKETS", "RNR_NAK_PACKETS_RECEIVED")
LINE, RESOURCE = "ROCE01", "CMN05"
RECOMMENDED: dict[str, Row] = {
    "PRESTART_JOB_INFO": {
        "SUBSYSTEM_DESCRIPTION_LIBRARY": "QSYS",
        "SUBSYSTEM_DESCRIPTION": "QUSRWRK",
        "PRESTART_JOB_PROGRAM_LIBRARY": "QSYS",
        "PRESTART_JOB_PROGRAM": "QDBMSRVR",
        "SUBSYSTEM_ACTIVE": "YES",
        "START_JOBS": "YES",
        "INITIAL_JOBS": "50",
        "THRESHOLD": "20",
        "ADDITIONAL_JOBS": "40",
        "MAXIMUM_JOBS": "-1",
        "MAXIMUM_USES": "-1",
    },
    "JOURNALED_OBJECTS": {"JOURNALED_FILES": "1", "FILES_WITH_BEFORE_IMAGES": "0", "FILES_WITH_OPEN_CLOSE": "0"},
}
"""Settings as the document recommends them (4.2, 4.3); it does not print those of its runs."""


def samples(
    system: str, addresses: tuple[str, str], placed: Sequence[Placed[MirrorRun]], random: Random
) -> dict[str, list[Row]]:
    """Return the samples of the link of `system`, by view: one before the first interval, then one at each end."""
    rows: dict[str, list[Row]] = {"NRG_INFO": [], "RDMA_LINK_INFO": []}
    counts = [*(random.randrange(10**12) for _ in COUNTERS), *(0 for _ in TROUBLE)]
    for one in placed:
        for link in (p.link for p in one.run.partitions if p.system == system and p.link):
            ends = [interval.end for interval in one.intervals]
            grown = [apportion(round(rate * one.seconds), one.weights) for rate in (*link.flow, *link.trouble)]
            if not rows["RDMA_LINK_INFO"]:
                ends.insert(0, one.begin)
                grown = [[0, *by_interval] for by_interval in grown]
            for at, end in enumerate(ends):
                counts = [value + by_interval[at] for value, by_interval in zip(counts, grown, strict=True)]
                counted = dict(zip((*COUNTERS, *TROUBLE), counts, strict=True))
                for view, row in _rows(link, addresses).items():
                    known = COUNTERS if view == "NRG_INFO" else counted
                    rows[view].append(sample_fields(end) | row | {name: counted[name] for name in known})
    if rows["RDMA_LINK_INFO"]:
        rows |= _settings(system, addresses, placed)
    return {view: found for view, found in rows.items() if found}


def _rows(link: Link, addresses: tuple[str, str]) -> dict[str, Row]:
    source, target = addresses
    rdma_link: Row = {
        "ADDRESS_SPACE_TYPE": "IPV4",
        "SOURCE_ADDRESS": source,
        "TARGET_ADDRESS": target,
        "LINK_STATE": "UP",
        "LINK_FAILURES": 0,
    }
    group: Row = {
        "NRG_NAME": "MIRROR_DATABASE",
        "NRG_STATE": "ACTIVE",
        "LINK_COUNT": 1,
        "ACTIVE_LINK_COUNT": 1,
        "LOAD_BALANCE_LINK_COUNT": 1,
        "LINK_FAILURES": 0,
    }
    return {"RDMA_LINK_INFO": rdma_link} | ({"NRG_INFO": group} if link.mirror else {})


def _settings(system: str, addresses: tuple[str, str], placed: Sequence[Placed[MirrorRun]]) -> dict[str, list[Row]]:
    """Return the hops from the link of `system` to its port, and the nodes of its pair."""
    link = next(p.link for one in placed for p in one.run.partitions if p.system == system and p.link)
    at, (source, target) = sample_fields(placed[0].begin), addresses
    location = location_code(link.server, system, placed)
    line: Row = {"IOPRN": "CMB06", "ETTYPE": "ETH", "ETLLND": LINE, "ETLLSP": 99_999_999_999, "ETMPORT": RESOURCE}
    own: Row = {"CONNECTION_TYPE": "IPV4", "INTERNET_ADDRESS": source, "NETWORK_ADDRESS": "192.0.2.0"}
    settings: dict[str, list[Row]] = {
        "NETSTAT_INTERFACE_INFO": [at | own | {"LINE_DESCRIPTION": LINE}],
        "HARDWARE_RESOURCE_INFO": [
            at | {"RESOURCE_CATEGORY": "COMM", "RESOURCE_NAME": RESOURCE, "LOCATION_CODE": location}
        ],
        "QAPMETH": [interval_fields(interval) | line for one in placed for interval in one.intervals],
    }
    if link.mirror:
        nodes = [p.system for p in placed[0].run.partitions if p.link and p.link.mirror]
        state: Row = {"IASP_NAME": "*SYSBAS", "REPLICATION_STATE": "ACTIVE"}
        of_group: Row = {"NRG_NAME": "MIRROR_DATABASE", "ADDRESS_SPACE_TYPE": "IPV4"}
        settings["MIRROR_INFO"] = [at | state | {"PRIMARY_NODE": nodes[0], "SECONDARY_NODE": nodes[1]}]
        settings["NRG_LINK_INFO"] = [
            at
            | of_group
            | {"SOURCE_ADDRESS": source, "TARGET_ADDRESS": target}
            | {"LINK_STATE": "UP", "LINK_PRIORITY": 1, "LINK_IN_USE": "YES"}
        ]
        settings |= {view: [at | row] for view, row in RECOMMENDED.items()}
    return settings
