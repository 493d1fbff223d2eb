"""Figure 2-1: logical database I/O of jobs with different mixes (Db2 Mirror 2.2).

The text has no numbers for this picture, so the mixes are those that the document prints elsewhere: retail
banking, 62 % reads and 38 % writes (7.6.1); end of day #1, 37 and 63 % (7.6.2); end of day #2, 82 and 18 % with most
reads for update (7.6.3); OLTP, about 60 and 40 % (7.1); rows read for update and updated (7.4); and reports that read.

Assumed: the rates, 20 µs of processor time an I/O, how many of the reads are for update and how many of the writes are
inserts. FIG21 counts reads for update, FIG21OLD has a release that does not.
"""

from __future__ import annotations

from counterflow.simulate.mirror import DOCUMENT, MirrorCase
from counterflow.simulate.model import Jobs, MirrorRun, Partition

MIXES = (  # jobs, how many, user, I/O a second; percent of it: read, of which for update, inserted, changed
    ("TELLER", 12, "RETAIL", 9_000, 62, 15, 18, 20),
    ("EODCLS", 6, "EOD", 14_000, 37, 25, 38, 25),
    ("EODPST", 6, "EOD", 12_000, 82, 80, 2, 16),
    ("OLTPSV", 16, "OLTP", 10_000, 60, 15, 16, 24),
    ("UPDROW", 4, "BATCH", 8_000, 50, 50, 0, 50),
    ("REPORT", 3, "QUERY", 20_000, 100, 0, 0, 0),
)


def _jobs(*, for_update: bool) -> tuple[Jobs, ...]:
    return tuple(
        Jobs(
            name,
            count,
            user,
            "QBATCH",
            cores=io_s * 20e-6,
            reads_s=io_s * reads / 100,
            reads_for_update_s=io_s * locked / 100 if for_update else None,
            inserts_s=io_s * inserts / 100,
            changes_s=io_s * changes / 100,
        )
        for name, count, user, io_s, reads, locked, inserts, changes in MIXES
    )


CASE = MirrorCase(
    title="Logical database I/O of jobs with different mixes (2.2, figure 2-1; mixes of 7.1, 7.4 and 7.6)",
    document=DOCUMENT,
    interval_s=300,
    runs=(
        MirrorRun(
            "mixes",
            intervals=12,
            partitions=(
                Partition("FIG21", _jobs(for_update=True)),
                Partition("FIG21OLD", _jobs(for_update=False)),
            ),
            published={
                f"{name} {what}": str(pct)
                for name, _, _, _, reads, *_ in MIXES[:4]
                for what, pct in (("read_pct", reads), ("write_pct", 100 - reads))
            },
        ),
    ),
)
