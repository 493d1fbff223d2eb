"""An SR-IOV port that is capped and freed again, from the figures of case study 5.

From the document: 8, 9 and 11 interfering threads beside a port of 6 %. Assumed: the capacity is then doubled to 12 %,
and the mirrored jobs work as beside 8 threads, far below that guarantee; the neighbours continue as before; while
capped, the link has a few dropped packets and receiver-not-ready events a second; 10 km lie between the nodes. No run
of the document shows this.
`_sriov` lists the other assumptions.
"""

from __future__ import annotations

from dataclasses import replace

from counterflow.simulate.cases._sriov import partitions
from counterflow.simulate.mirror import DOCUMENT, MirrorCase
from counterflow.simulate.model import MirrorRun, Partition, Trouble
from counterflow.simulate.published import table

RATES = {row["threads"]: row for row in table("table_7_4") if row["capacity_pct"] == "6"}
TRAFFIC = {row["threads"]: row for row in table("table_7_5") if row["capacity_pct"] == "6"}


WELL, CAPPED = Trouble(0, 0), Trouble(12, 5)


def _run(
    name: str, own: str, neighbours: str, capacity_pct: float, intervals: int, trouble: Trouble = WELL
) -> MirrorRun:
    four = partitions(
        float(RATES[own]["rows_s"]),
        TRAFFIC[own],
        TRAFFIC[neighbours],
        capacity_pct,
        pair=("SRIOVA", "SRIOVB"),
        neighbours=("NEIGHA", "NEIGHB"),
        servers=("SRVA", "SRVB"),
        jobs=int(RATES[own]["jobs"]),
    )
    return MirrorRun(name, intervals, tuple(_with(partition, trouble) for partition in four))


def _with(partition: Partition, trouble: Trouble) -> Partition:
    """Return the partition with that trouble on its mirrored link; any other link has none."""
    link = partition.link and replace(partition.link, trouble=trouble if partition.link.mirror else WELL)
    return replace(partition, link=link)


CASE = MirrorCase(
    title="A capped port: uncapped, neighbours grow, capped, capacity doubled (from 7.5)",
    document=DOCUMENT,
    interval_s=30,
    noise=0.001,
    distance_km=10,
    runs=(
        _run("8 threads beside it", "8", "8", 6, 8),
        _run("9 threads beside it", "9", "9", 6, 4),
        _run("11 threads beside it", "11", "11", 6, 8, CAPPED),
        _run("capacity doubled", "8", "11", 12, 6),
    ),
)
