"""Case study 5 as flows over links: turns rows of tables 7-4 and 7-5 into what each partition sends and receives.

From the document: 80 jobs, each row read for update and updated, 1,300-byte rows; two partitions on each of two
servers; OUT, IN and messages of the mirrored pair and of the interfering one; capacity of the logical ports.

Assumed, each for a reason:

- Gb is 2^30 bits: a send of 64K, counted once at either end, is then 63.9 KB of 1,024 bytes in seven of eight rows.
- OUT and IN are sums over both partitions of a pair, as the heading "Sum" indicates. What one sends the other receives,
  but the document's IN differs from its OUT by up to 19 %; each direction gets half of the difference.
- The source sends only its row images (rows/s x 1,301 bytes, the least that must cross); the rest of OUT is the
  target's answers.
- A message counts where it leaves and where it arrives, requests and answers alike: a quarter of the mirrored messages
  each. The interfering threads send in one direction.
- Where a printed total misses the sum by its last digit, each unrounded figure is a third of a digit off.
- The logical ports of the HMC count the same bytes; whether a real adapter does is unknown.
- 15 µs of processor time a row on the source, 6 µs on the target.
- A quarter as many jobs apply the changes as make them: prestart jobs QDBMSRVR in QUSRWRK (section 4.2). No document
  states which logical database counters their work raises, so they show only processor time.
"""

from __future__ import annotations

from decimal import Decimal

from counterflow.simulate.model import Flow, Jobs, Link, Partition
from counterflow.simulate.published import Row

GIGABIT = 2**30
ROW_BYTES = 1300
ROW_EXTRA_BYTES = 1
"""With one byte more, rows of 1,300 bytes give the MB/s of table 7-4 to the last digit."""
SOURCE_S_PER_ROW, TARGET_S_PER_ROW = 15e-6, 6e-6


def partitions(
    rows_s: float,
    own: Row,
    other: Row,
    capacity_pct: float,
    *,
    pair: tuple[str, str],
    neighbours: tuple[str, str],
    servers: tuple[str, str],
    jobs: int,
) -> tuple[Partition, ...]:
    """Return the four partitions of a run: the mirrored pair, then the interfering one.

    `own` and `other` are rows of table 7-5: of the mirrored figures and of the interfering ones.
    """
    own_out, own_in, own_msgs = (_unrounded(own, "own", figure) for figure in ("out_gb_s", "in_gb_s", "msgs_s"))
    other_out, other_in, other_msgs = (_unrounded(other, "other", f) for f in ("out_gb_s", "in_gb_s", "msgs_s"))
    out_bytes, in_bytes = own_out * GIGABIT / 8, own_in * GIGABIT / 8
    images = rows_s * (ROW_BYTES + ROW_EXTRA_BYTES)
    skew = (in_bytes - out_bytes) / 2
    answers = out_bytes - images
    source = Flow(images, answers + skew, own_msgs / 4, own_msgs / 4)
    target = Flow(answers, images + skew, own_msgs / 4, own_msgs / 4)
    sender = Flow(other_out * GIGABIT / 8, 0, other_msgs / 2, 0)
    receiver = Flow(0, other_in * GIGABIT / 8, 0, other_msgs / 2)
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
    applied = Jobs(
        "QDBMSRVR", jobs // 4, "QUSER", "QUSRWRK", TARGET_S_PER_ROW * rows_s, reads_for_update_s=0.0, subtype="J"
    )
    rest = 100 - capacity_pct
    return (
        Partition(pair[0], (updates,), link=Link(servers[0], capacity_pct, source, mirror=True)),
        Partition(pair[1], (applied,), link=Link(servers[1], capacity_pct, target, mirror=True)),
        Partition(neighbours[0], link=Link(servers[0], rest, sender, mirror=False)),
        Partition(neighbours[1], link=Link(servers[1], rest, receiver, mirror=False)),
    )


def _unrounded(row: Row, whose: str, figure: str) -> float:
    """Return a printed figure, shifted so that both it and the printed total round to what is printed."""
    printed = Decimal(row[f"{whose}_{figure}"])
    missing = Decimal(row[f"all_{figure}"]) - Decimal(row[f"own_{figure}"]) - Decimal(row[f"other_{figure}"])
    return float(printed + missing / 3)
