"""Case study 2: SQE OLTP, active-passive (Db2 Mirror 7.2, table 7-2).

From the document: processor utilisation, cores, job sets, transactions a second, response time, SQL under commitment
control. The fourth row is printed as a second "Scenario #2"; the text calls it the third.

Assumed: a job set is two jobs, since 29,900/s x 3.24 ms is 97 transactions at a time in 82 job sets; a transaction
has 20 logical reads, 2 of them for update, 1 insert, 2 updates or deletes and a commit; 40 jobs apply.
"""

from __future__ import annotations

from counterflow.simulate.cases._shared import apply_jobs, busy, sql_jobs
from counterflow.simulate.mirror import DOCUMENT, MirrorCase
from counterflow.simulate.model import Partition, Run
from counterflow.simulate.published import Row, cells, table


def _run(row: Row) -> Run:
    cpu_pct, cores = row["source_cpu_pct"], row["source_cores"]
    application = sql_jobs(row["job_sets"], busy(cpu_pct, cores), float(row["tps"]), float(row["response_ms"]))
    partitions = [Partition("CS2A", (application,), float(cores), float(cpu_pct))]
    if "target_cpu_pct" in row:
        cpu_pct, cores = row["target_cpu_pct"], row["target_cores"]
        partitions.append(Partition("CS2B", (apply_jobs(40, busy(cpu_pct, cores)),), float(cores), float(cpu_pct)))
    return Run(
        row["scenario"],
        intervals=5,
        partitions=tuple(partitions),
        published=cells(row, "source_cpu_pct", "target_cpu_pct", "tps", "response_ms"),
    )


CASE = MirrorCase(
    title="SQL OLTP, active-passive (7.2, table 7-2)",
    document=DOCUMENT,
    interval_s=60,
    runs=tuple(_run(row) for row in table("table_7_2")),
)
