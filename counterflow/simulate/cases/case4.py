"""Case study 4: native database batch, single row updates (Db2 Mirror 7.4, figure 7-6).

From the document: 10 to 100 jobs, 161-byte rows read for update and updated one by one, runs of 2 minutes, 10 cores,
a pair of 100 Gb/s adapters directly connected, a group of one link, three RDMA protocols that differ little. The
figures of 7-6 are in a picture: no figure is printed, so none is reproduced.

Assumed: each job updates 416,049 / 80 rows a second, as in case study 5 at 3 % and 8 threads; the protocols are 0.2 %
and 0.5 % slower; a row change is 10.3 messages, as there, and sends its row with the byte that table 7-4 shows, while
the answers are a tenth of it; 15 µs of processor time a row on the source and 6 µs on the target.
"""

from __future__ import annotations

from counterflow.simulate.cases._shared import ROW_EXTRA_BYTES, apply_jobs
from counterflow.simulate.mirror import DOCUMENT, MirrorCase
from counterflow.simulate.model import Flow, Jobs, Link, Partition, Run

ROW_BYTES = 161
ROWS_PER_JOB_S = 416_049 / 80
PROTOCOLS = {"RDMA v1": 1.0, "RDMA v2": 0.998, "RDMA v2SEC": 0.995}
MESSAGES_PER_ROW = 10.3
ANSWER = 0.1
CPU_S_PER_ROW = {"CS4A": 15e-6, "CS4B": 6e-6}


def _run(protocol: str, speed: float, jobs: int) -> Run:
    rows_s = ROWS_PER_JOB_S * jobs * speed
    sent = rows_s * (ROW_BYTES + ROW_EXTRA_BYTES)
    msgs = rows_s * MESSAGES_PER_ROW / 4
    updates = Jobs(
        "UPDROW",
        jobs,
        "BATCH",
        "QBATCH",
        CPU_S_PER_ROW["CS4A"] * rows_s,
        reads_s=rows_s,
        reads_for_update_s=rows_s,
        changes_s=rows_s,
        subtype="D",
    )
    source = Link("CS4SRVA", 100, Flow(sent, ANSWER * sent, msgs, msgs), mirror=True)
    target = Link("CS4SRVB", 100, Flow(ANSWER * sent, sent, msgs, msgs), mirror=True)
    return Run(
        f"{protocol}, {jobs} jobs",
        intervals=4,
        partitions=(
            Partition("CS4A", (updates,), link=source),
            Partition("CS4B", (apply_jobs(jobs, CPU_S_PER_ROW["CS4B"] * rows_s),), link=target),
        ),
    )


CASE = MirrorCase(
    title="Native batch, single row updates over three RDMA protocols (7.4, figure 7-6)",
    document=DOCUMENT,
    interval_s=30,
    runs=tuple(_run(name, speed, jobs) for name, speed in PROTOCOLS.items() for jobs in range(10, 101, 10)),
)
