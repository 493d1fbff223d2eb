"""Case study 3: SQE OLTP, active-passive against active-active (Db2 Mirror 7.3, table 7-3).

From the document: processor utilisation, cores, job sets, transactions a second, response time of each node. The
baseline responds in 3.7 ms by the table and 3.6 ms by the text: the table is simulated.

Assumed: as in case study 2, which runs the same workload; where both nodes are active each does half of the
transactions, and half of the processor time of its listed jobs is the other node's changes being applied.
"""

from __future__ import annotations

from counterflow.simulate.cases._shared import apply_jobs, busy, sql_jobs
from counterflow.simulate.mirror import DOCUMENT, MirrorCase
from counterflow.simulate.model import Jobs, Partition, Run
from counterflow.simulate.published import Row, cells, table

SYSTEMS = {"primary": "CS3A", "secondary": "CS3B"}


def _partition(row: Row, node: str, tps: float, *, mirrored: bool) -> Partition:
    cpu_pct, cores = row[f"{node}_cpu_pct"], row[f"{node}_cores"]
    processors = busy(cpu_pct, cores)
    jobs: list[Jobs] = []
    if mirrored:
        processors /= 2 if tps else 1
        jobs.append(apply_jobs(40, processors))
    if tps:
        jobs.append(sql_jobs(row[f"{node}_job_sets"], processors, tps, float(row[f"{node}_response_ms"])))
    return Partition(SYSTEMS[node], tuple(jobs), float(cores), float(cpu_pct))


def _run(row: Row) -> Run:
    tps = float(row["tps"])
    both = "secondary_job_sets" in row
    shares = (tps / 2, tps / 2) if both else (tps, 0.0)
    partitions = [_partition(row, "primary", shares[0], mirrored=both)]
    if "secondary_cpu_pct" in row:
        partitions.append(_partition(row, "secondary", shares[1], mirrored=True))
    printed = ("primary_cpu_pct", "secondary_cpu_pct", "tps", "primary_response_ms", "secondary_response_ms")
    return Run(row["scenario"], intervals=5, partitions=tuple(partitions), published=cells(row, *printed))


CASE = MirrorCase(
    title="SQL OLTP, active-passive against active-active (7.3, table 7-3)",
    document=DOCUMENT,
    interval_s=60,
    runs=tuple(_run(row) for row in table("table_7_3")),
)
