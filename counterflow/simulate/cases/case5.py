"""Case study 5: SR-IOV exploration (Db2 Mirror 7.5, tables 7-4 and 7-5).

Runs of 6 minutes in 30 s, 3 % before 6 % and the threads rising; the document states neither length nor order of the
runs. `_sriov` lists the other assumptions.
"""

from __future__ import annotations

from counterflow.simulate.cases._sriov import partitions
from counterflow.simulate.mirror import DOCUMENT, MirrorCase
from counterflow.simulate.model import MirrorRun
from counterflow.simulate.published import Row, table


def _run(rates: Row, traffic: Row) -> MirrorRun:
    capacity_pct = int(rates["capacity_pct"])
    four = partitions(
        float(rates["rows_s"]),
        traffic,
        traffic,
        capacity_pct,
        pair=("CS5A", "CS5B"),
        neighbours=("CS5NBRA", "CS5NBRB"),
        servers=("CS5SRVA", "CS5SRVB"),
        jobs=int(rates["jobs"]),
    )
    figures = {name: cell for name, cell in (rates | traffic).items() if name.endswith("_s")}
    return MirrorRun(f"{capacity_pct} %, {rates['threads']} threads", intervals=12, partitions=four, published=figures)


CASE = MirrorCase(
    title="SR-IOV capacity: a mirrored pair beside 8 to 11 interfering threads (7.5, tables 7-4 and 7-5)",
    document=DOCUMENT,
    interval_s=30,
    noise=0.001,
    runs=tuple(_run(*rows) for rows in zip(table("table_7_4"), table("table_7_5"), strict=True)),
)
