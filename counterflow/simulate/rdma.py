"""Db2 Mirror: the running counts of a partition's RDMA link, as rows of NRG_INFO and RDMA_LINK_INFO.

Where a case has no drops and refusals, their columns are left out, as on releases without them.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from counterflow.simulate.hmc import physical_port
from counterflow.simulate.layout import Row, sample_fields
from counterflow.simulate.model import Link, Run
from counterflow.simulate.spread import apportion
from counterflow.simulate.timeline import Placed

COUNTERS = ("OUTBOUND_RDMA_BYTES", "INBOUND_RDMA_BYTES", "OUTBOUND_MESSAGES", "INBOUND_MESSAGES")
TROUBLE = ("DROPPED_PACKETS", "RNR_NAK_PACKETS_RECEIVED")


def samples(
    system: str, addresses: tuple[str, str], placed: Sequence[Placed[Run]], random: Random
) -> dict[str, list[Row]]:
    """Return the samples of the link of `system`, by view: one before the first interval, then one at each end."""
    rows: dict[str, list[Row]] = {"NRG_INFO": [], "RDMA_LINK_INFO": []}
    counts = [*(random.randrange(10**12) for _ in COUNTERS), *(0 for _ in TROUBLE)]
    for one in placed:
        pair = " ".join(p.system for p in one.run.partitions if p.link and p.link.mirror)
        for link in (p.link for p in one.run.partitions if p.system == system and p.link):
            ends = [interval.end for interval in one.intervals]
            grown = [
                apportion(round(rate * one.seconds), one.weights) for rate in (*link.flow, *(link.trouble or (0, 0)))
            ]
            if not rows["RDMA_LINK_INFO"]:
                ends.insert(0, one.begin)
                grown = [[0, *by_interval] for by_interval in grown]
            for at, end in enumerate(ends):
                counts = [value + by_interval[at] for value, by_interval in zip(counts, grown, strict=True)]
                counted = dict(zip((*COUNTERS, *TROUBLE), counts, strict=True))
                for view, row in _rows(link, addresses, pair).items():
                    known = COUNTERS if link.trouble is None or view == "NRG_INFO" else counted
                    rows[view].append(sample_fields(end) | row | {name: counted[name] for name in known})
    return {view: found for view, found in rows.items() if found}


def _rows(link: Link, addresses: tuple[str, str], pair: str) -> dict[str, Row]:
    source, target = addresses
    rdma_link: Row = {
        "ADDRESS_SPACE_TYPE": "IPV4",
        "SOURCE_ADDRESS": source,
        "TARGET_ADDRESS": target,
        "LINK_STATE": "UP",
        "LINK_FAILURES": 0,
        "PHYSICAL_PORT": physical_port(link.server),
    }
    group: Row = {
        "NRG_NAME": "MIRROR_DATABASE",
        "NRG_STATE": "ACTIVE",
        "LINK_COUNT": 1,
        "ACTIVE_LINK_COUNT": 1,
        "LOAD_BALANCE_LINK_COUNT": 1,
        "LINK_FAILURES": 0,
        "MIRRORED_PAIR": pair,
        "PHYSICAL_PORT": physical_port(link.server),
    }
    return {"RDMA_LINK_INFO": rdma_link} | ({"NRG_INFO": group} if link.mirror else {})
