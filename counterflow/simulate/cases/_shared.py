"""What several cases assume. Nothing of it is in the document."""

from __future__ import annotations

from counterflow.simulate.model import Jobs

ACCOUNTED = 0.9
"""Part of a partition's processor time that its listed jobs use; the rest is the system's."""


def busy(cpu_pct: str, cores: str) -> float:
    """Return the processors that the listed jobs of a partition keep busy."""
    return ACCOUNTED * float(cpu_pct) / 100 * float(cores)


def apply_jobs(count: int, cores: float) -> Jobs:
    """Return the jobs that apply what the other node changes: prestart jobs QDBMSRVR in QUSRWRK (section 4.2).

    Which logical database counters their work raises is not said anywhere: they show processor time alone.
    """
    return Jobs("QDBMSRVR", count, "QUSER", "QUSRWRK", cores, reads_for_update_s=0.0, subtype="J")


def sql_jobs(job_sets: str, cores: float, tps: float, response_ms: float) -> Jobs:
    """Return the SQL OLTP workload of case studies 2 and 3 on one node; what is assumed of it is said in `case2`."""
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
"""Rows of 1,300 bytes give the MB/s of table 7-4, to the last digit, with one byte more."""
