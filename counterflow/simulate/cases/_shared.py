"""Assumptions that several cases share. None is in the document."""

from __future__ import annotations

from counterflow.simulate.model import Jobs

ACCOUNTED = 0.9
"""Part of a partition's processor time that its listed jobs use; the rest is the system's."""


def busy(cpu_pct: str, cores: str) -> float:
    """Return the processors used by the listed jobs of a partition."""
    return ACCOUNTED * float(cpu_pct) / 100 * float(cores)


def apply_jobs(count: int, cores: float) -> Jobs:
    """Return the jobs that apply the other node's changes: prestart jobs QDBMSRVR in QUSRWRK (section 4.2).

    No document states which logical database counters their work raises: they show only processor time.
    """
    return Jobs("QDBMSRVR", count, "QUSER", "QUSRWRK", cores, reads_for_update_s=0.0, subtype="J")


def sql_jobs(job_sets: str, cores: float, tps: float, response_ms: float) -> Jobs:
    """Return the SQL OLTP workload of case studies 2 and 3 on one node; `case2` lists its assumptions."""
    return Jobs(
        "SQLTXN",
        2 * int(job_sets),
        "SQLOLTP",
        "SQLOLTP",
        cores,
        transactions_s=tps,
        response_s=response_ms / 1000,
        reads_s=20 * tps,
        reads_for_update_s=2 * tps,
        inserts_s=tps,
        changes_s=2 * tps,
        commits_s=tps,
        sql=True,
    )


ROW_EXTRA_BYTES = 1
"""With one byte more, rows of 1,300 bytes give the MB/s of table 7-4 to the last digit."""
