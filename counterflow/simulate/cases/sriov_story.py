"""An SR-IOV port that is capped and freed again, from case study 5 of Db2 Mirror (7.5, tables 7-4 and 7-5).

docs/studies/db2-mirror.md has what is from the document, and why the rest is assumed.
"""

from __future__ import annotations

from decimal import Decimal

from counterflow.simulate.mirror import MirrorCase
from counterflow.simulate.model import Flow, Jobs, Link, MirrorRun, Partition, Trouble
from counterflow.simulate.published import Row, table

GIGABIT = 2**30
ROW_BYTES = 1300
ROW_EXTRA_BYTES = 1
"""With one byte more, rows of 1,300 bytes give the MB/s of table 7-4 to the last digit."""
SOURCE_S_PER_ROW, TARGET_S_PER_ROW = 15e-6, 6e-6
SERVERS = ("SRVA", "SRVB")
PRINTED_PCT = 6

RATES = {row["threads"]: row for row in table("table_7_4") if row["capacity_pct"] == str(PRINTED_PCT)}
TRAFFIC = {row["threads"]: row for row in table("table_7_5") if row["capacity_pct"] == str(PRINTED_PCT)}

WELL, CAPPED = Trouble(0, 0), Trouble(12, 5)


def _run(name: str, own: str, neighbours: str, capacity_pct: int, intervals: int, trouble: Trouble = WELL) -> MirrorRun:
    """Return a run; `own` and `neighbours` are the threads of the printed runs whose figures either pair has."""
    rates = RATES[own]
    flows = _flows(float(rates["rows_s"]), TRAFFIC[own], TRAFFIC[neighbours])
    made = _partitions(float(rates["rows_s"]), int(rates["jobs"]), flows, capacity_pct, trouble)
    printed = rates | TRAFFIC[own] if own == neighbours and capacity_pct == PRINTED_PCT else {}
    figures = {figure: cell for figure, cell in printed.items() if figure.endswith("_s")}
    return MirrorRun(name=name, intervals=intervals, partitions=made, published=figures)


def _flows(rows_s: float, own: Row, other: Row) -> tuple[Flow, Flow, Flow, Flow]:
    """Return the traffic of the mirrored pair, then of the interfering one, from rows of table 7-5."""
    own_out, own_in, own_msgs = (_unrounded(own, "own", figure) for figure in ("out_gb_s", "in_gb_s", "msgs_s"))
    other_out, other_in, other_msgs = (_unrounded(other, "other", f) for f in ("out_gb_s", "in_gb_s", "msgs_s"))
    out_bytes, in_bytes = own_out * GIGABIT / 8, own_in * GIGABIT / 8
    images = rows_s * (ROW_BYTES + ROW_EXTRA_BYTES)
    skew = (in_bytes - out_bytes) / 2
    answers = out_bytes - images
    return (
        Flow(images, answers + skew, own_msgs / 4, own_msgs / 4),
        Flow(answers, images + skew, own_msgs / 4, own_msgs / 4),
        Flow(other_out * GIGABIT / 8, 0, other_msgs / 2, 0),
        Flow(0, other_in * GIGABIT / 8, 0, other_msgs / 2),
    )


def _partitions(
    rows_s: float, jobs: int, flows: tuple[Flow, Flow, Flow, Flow], capacity_pct: int, trouble: Trouble
) -> tuple[Partition, ...]:
    updates = Jobs(
        "UPDROW",
        jobs,
        "BATCH",
        "QBATCH",
        SOURCE_S_PER_ROW * rows_s,
        reads_s=rows_s,
        reads_for_update_s=rows_s,
        changes_s=rows_s,
        subtype="D",
    )
    applied = Jobs("QDBMSRVR", jobs // 4, "QUSER", "QUSRWRK", TARGET_S_PER_ROW * rows_s, subtype="J")
    source, target, sender, receiver = flows
    rest = 100 - capacity_pct
    return (
        Partition("SRIOVA", (updates,), link=Link(SERVERS[0], capacity_pct, source, mirror=True, trouble=trouble)),
        Partition("SRIOVB", (applied,), link=Link(SERVERS[1], capacity_pct, target, mirror=True, trouble=trouble)),
        Partition("NEIGHA", link=Link(SERVERS[0], rest, sender, mirror=False, trouble=WELL)),
        Partition("NEIGHB", link=Link(SERVERS[1], rest, receiver, mirror=False, trouble=WELL)),
    )


def _unrounded(row: Row, whose: str, figure: str) -> float:
    """Return a printed figure, shifted so that both it and the printed total round to what is printed."""
    printed = Decimal(row[f"{whose}_{figure}"])
    missing = Decimal(row[f"all_{figure}"]) - Decimal(row[f"own_{figure}"]) - Decimal(row[f"other_{figure}"])
    return float(printed + missing / 3)


CASE = MirrorCase(
    title="A capped port: uncapped, neighbours grow, capped, capacity doubled (from 7.5)",
    interval_s=30,
    noise=0.001,
    runs=(
        _run("8 threads beside it", "8", "8", 6, 8),
        _run("9 threads beside it", "9", "9", 6, 4),
        _run("11 threads beside it", "11", "11", 6, 8, CAPPED),
        _run("capacity doubled", "8", "11", 12, 6),
    ),
)
