"""Case study 1: native database OLTP (Db2 Mirror 7.1, table 7-1).

From the document: users, processor utilisation, cores, throughput, response time, about 60 % reads and 40 % writes,
commitment control, replication from one node to the other.

Assumed: throughput is transactions a minute (its unit is not printed); the response time of a user is on the job that
serves the user; 64 jobs serve them; 25 logical reads and writes a transaction and one commit; 9 of its 15 reads are
without and 6 for update, 4 writes are inserts and 6 updates or deletes; 16 jobs apply.
"""

from __future__ import annotations

from counterflow.simulate.cases._shared import apply_jobs, busy
from counterflow.simulate.mirror import DOCUMENT, MirrorCase
from counterflow.simulate.model import Jobs, Partition, Run
from counterflow.simulate.published import Row, cells, table

PAIR = {"1": "CS1SSD", "2": "CS1HDD"}
READS, READS_FOR_UPDATE, INSERTS, CHANGES = 15, 6, 4, 6


def _run(row: Row) -> Run:
    tx_s = float(row["throughput"]) / 60
    users = Jobs(
        "OLTPSV",
        64,
        "OLTP",
        "OLTPSBS",
        busy(row["source_cpu_pct"], row["source_cores"]),
        transactions_s=tx_s,
        response_s=float(row["response_s"]),
        reads_s=READS * tx_s,
        reads_for_update_s=READS_FOR_UPDATE * tx_s,
        inserts_s=INSERTS * tx_s,
        changes_s=CHANGES * tx_s,
        commits_s=tx_s,
    )
    pair = PAIR[row["pair"]]
    partitions = [Partition(f"{pair}A", (users,), float(row["source_cores"]), float(row["source_cpu_pct"]))]
    if "target_cpu_pct" in row:
        cores, cpu_pct = row["target_cores"], row["target_cpu_pct"]
        partitions.append(Partition(f"{pair}B", (apply_jobs(16, busy(cpu_pct, cores)),), float(cores), float(cpu_pct)))
    return Run(
        f"{row['users']} users, pair {row['pair']} {row['scenario']}",
        intervals=5,
        partitions=tuple(partitions),
        published=cells(row, "source_cpu_pct", "target_cpu_pct", "throughput", "response_s"),
    )


CASE = MirrorCase(
    title="Native database OLTP, 32,000 and 48,000 users on SSD and HDD (7.1, table 7-1)",
    document=DOCUMENT,
    interval_s=60,
    runs=tuple(_run(row) for row in table("table_7_1")),
)
