"""Tellers, then an end of day in a pool too small for it, then the same with more memory.

docs/studies/db2-mirror.md has what is from the documents and what is assumed.
"""

from __future__ import annotations

from counterflow.simulate.mirror import MirrorCase
from counterflow.simulate.model import Disks, Jobs, MirrorRun, OnDisk, Partition, Pool

SYSTEM, CORES = "BANKA", 6
CPU_S_PER_IO = 20e-6
QUEUEING, JOURNAL, SEIZES, RECORD_LOCKS = 2, 11, 15, 16
"""Wait buckets."""
BASE, INTERACTIVE = "02", "03"
SHARES = {
    "TELLER": (62, 15, 18, 20),
    "EODCLS": (37, 25, 38, 25),
    "EODPST": (82, 80, 2, 16),
    "REPORT": (100, 0, 0, 0),
}
"""Percent of a job's I/O: read, of which for update, inserted, changed."""
PRINTED = {"TELLER", "EODCLS", "EODPST"}
"""Jobs whose shares of reads and writes the document prints."""


def _jobs(name: str, count: int, cores: float, on_disk: OnDisk, held_up: dict[int, float], **more: float | str) -> Jobs:
    reads, locked, inserts, changes = (cores / CPU_S_PER_IO * pct / 100 for pct in SHARES[name])
    users = {"TELLER": ("RETAIL", "QINTER"), "REPORT": ("QUERY", "QBATCH")}
    user, subsystem = users.get(name, ("EOD", "EODSBS"))
    return Jobs(
        name,
        count,
        user,
        subsystem,
        cores,
        reads_s=reads,
        reads_for_update_s=locked,
        inserts_s=inserts,
        changes_s=changes,
        on_disk=on_disk,
        held_up=held_up,
        **more,  # type: ignore[arg-type]
    )


def _tellers(response_s: float, locked: float) -> Jobs:
    on_disk = OnDisk(INTERACTIVE, 12, 120, 90)
    waits = {QUEUEING: 0.1, JOURNAL: 0.3, RECORD_LOCKS: locked}
    return _jobs("TELLER", 8, 1.6, on_disk, waits, type="I", transactions_s=60.0, response_s=response_s)


def _run(
    name: str, intervals: int, jobs: tuple[Jobs, ...], disks: Disks, base_gb: int, ineligible_s: float = 0
) -> MirrorRun:
    cpu_pct = 100 * (sum(of.cores for of in jobs) + 0.2) / CORES
    pools = (
        Pool("01", "*MACHINE", 4_096, 32_767),
        Pool(BASE, "*BASE", base_gb * 1024, 40, ineligible_s),
        Pool(INTERACTIVE, "*INTERACT", (30 - base_gb) * 1024, 200),
    )
    partition = Partition(SYSTEM, jobs, CORES, cpu_pct, pools=pools, disks=disks)
    printed = {
        f"{of.name} {what}": str(pct)
        for of in jobs
        if of.name in PRINTED
        for what, pct in (("read_pct", SHARES[of.name][0]), ("write_pct", 100 - SHARES[of.name][0]))
    }
    return MirrorRun(name=name, intervals=intervals, partitions=(partition,), published=printed)


CASE = MirrorCase(
    title="Tellers, an end of day that lacks memory, and one that has it (mixes of 2.2; guideline of 19.6)",
    interval_s=900,
    noise=0.04,
    runs=(
        _run(
            "tellers",
            6,
            (_tellers(0.25, 0.2), _jobs("REPORT", 2, 0.6, OnDisk(BASE, 20, 260, 10), {})),
            Disks(6, 0.5, 0.1),
            base_gb=6,
        ),
        _run(
            "end of day, 6 GB",
            8,
            (
                _tellers(0.65, 1.8),
                _jobs("EODCLS", 5, 0.3, OnDisk(BASE, 480, 600, 120), {JOURNAL: 0.1, SEIZES: 0.3, RECORD_LOCKS: 0.2}),
                _jobs("EODPST", 7, 0.5, OnDisk(BASE, 760, 900, 160), {JOURNAL: 0.2, SEIZES: 0.4}),
            ),
            Disks(6, 1.8, 2.4),
            base_gb=6,
            ineligible_s=3,
        ),
        _run(
            "end of day, 18 GB",
            6,
            (
                _tellers(0.3, 0.4),
                _jobs("EODCLS", 5, 1.2, OnDisk(BASE, 30, 420, 640), {JOURNAL: 1.1, QUEUEING: 0.2, RECORD_LOCKS: 0.1}),
                _jobs("EODPST", 7, 2.1, OnDisk(BASE, 40, 560, 700), {JOURNAL: 1.6, QUEUEING: 0.4, SEIZES: 0.1}),
            ),
            Disks(6, 0.9, 0.3),
            base_gb=18,
        ),
    ),
)
