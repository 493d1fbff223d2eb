"""Collection Services: counters of a partition's jobs and processors, as rows of QAPMSYSTEM, QAPMJOBMI, QAPMJOBOS.

Where a case describes the jobs' disk work, QAPMJOBWT has their waits, and `machine` adds the rest of the partition.
A field for which a case has no figure is left out of the file, not written as 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from itertools import count
from random import Random

from counterflow.collectors.formats.ibmi_tables.description import TIME_FIELDS
from counterflow.simulate import machine
from counterflow.simulate.case import Placed
from counterflow.simulate.layout import READS_FOR_UPDATE, Row, interval_fields
from counterflow.simulate.model import Disks, Jobs, MirrorRun, Partition
from counterflow.simulate.spread import apportion, uneven

JOB_NOISE = 0.02
"""Deviation of the jobs of one kind from their mean."""

GENERIC = 6
"""Characters of a job name that a number follows."""

RUNNING, FAULTS, READS, WRITES, IDLE = 1, 5, 6, 9, 31
"""Wait buckets whose time follows from the job's work; the rest of its time is idle."""
WAIT_US = {RUNNING: 500, IDLE: 1_000_000}
OTHER_WAIT_US = 10_000
"""Mean length of a wait, where no operation is counted."""

Rows = dict[str, list[Row]]


def collect(system: str, placed: Sequence[Placed[MirrorRun]], random: Random) -> Rows:
    """Return the rows of `system` over all its runs, by table."""
    rows: Rows = {"QAPMSYSTEM": [], "QAPMJOBMI": [], "QAPMJOBOS": [], "QAPMJOBWT": []}
    identities = count(1)
    for one in placed:
        for partition in one.run.partitions:
            if partition.system != system:
                continue
            rows["QAPMSYSTEM"] += _system(partition, one)
            for jobs in partition.jobs:
                for job, counts in _jobs(jobs, one, random, identities):
                    rows["QAPMJOBMI"].append(job | counts["QAPMJOBMI"])
                    rows["QAPMJOBOS"].append(job | counts["QAPMJOBOS"])
                    if partition.disks and jobs.on_disk:
                        rows["QAPMJOBWT"].append(_waits(jobs, partition.disks, job, counts["QAPMJOBMI"], random))
    for table in rows.values():
        table.sort(key=lambda row: int(str(row["INTNUM"])))
    rows |= machine.tables(system, placed, rows["QAPMJOBMI"], rows["QAPMJOBWT"], random)
    return {table: found for table, found in rows.items() if found}


def _system(partition: Partition, placed: Placed[MirrorRun]) -> Iterator[Row]:
    """Yield processor time of dedicated processors."""
    if partition.cores is None or partition.cpu_pct is None:
        return
    configured = [round(partition.cores * 1000) * interval.seconds for interval in placed.intervals]
    used = round(sum(configured) * partition.cpu_pct / 100)
    # a partition that is always busy cannot be busier for an interval
    weights = placed.weights if partition.cpu_pct * max(placed.weights) < 100 else (1.0,) * len(configured)
    for interval, cta, ptu in zip(placed.intervals, configured, apportion(used, weights), strict=True):
        yield interval_fields(interval) | {"SYSPTU": ptu, "SYSCTA": cta, "SYSUTA": cta, "SYVCPU": cta}


def _jobs(
    jobs: Jobs, placed: Placed[MirrorRun], random: Random, identities: Iterator[int]
) -> Iterator[tuple[Row, dict[str, Row]]]:
    """Yield each job in each interval: the fields common to both files, and the counters of each."""
    shares = uneven(jobs.count, random, JOB_NOISE)
    weights = [over * share for over in placed.weights for share in shares]

    def counted(rate_s: float) -> list[int]:
        return apportion(round(rate_s * placed.seconds), weights)

    transactions = counted(jobs.transactions_s)
    response_ms = apportion(round(sum(transactions) * jobs.response_s * 1000), transactions)
    cpu_us = counted(jobs.cores * 1e6)
    logical = {
        "JBLRD": counted(jobs.reads_s),
        "JBLWT": counted(jobs.inserts_s),
        "JBDBU": counted(jobs.changes_s),
    }
    on_disk: dict[str, list[int]] = {}
    if jobs.on_disk:
        _, faults_s, reads_s, writes_s = jobs.on_disk
        on_disk = {"JBTFLT": counted(faults_s), "JBDBR": counted(reads_s), "JBDBW": counted(writes_s)}
    for_update = counted(jobs.reads_for_update_s)
    names = [_identity(jobs, next(identities)) for _ in shares]
    for at in range(len(weights)):
        interval, name = placed.intervals[at // jobs.count], names[at % jobs.count]
        both: Row = {"JBRSP": Decimal(response_ms[at]) / 1000, "JBNTR": transactions[at]}
        by_job: Row = {
            "JBSSYS": jobs.subsystem,
            **{field: counts[at] for field, counts in logical.items()},
            **{f"{field}SQL": 0 for field in logical},
            "JBBCO": 0,
            "JBBRO": 0,
        }
        by_job[READS_FOR_UPDATE] = for_update[at]
        cpu_ms = Decimal(cpu_us[at]) / 1000
        by_thread: Row = {"JBTHDF": 0, "JBSLTCNT": 0, "JBCUSR": jobs.user, "JBCPU": cpu_ms, "JBTCPU": cpu_ms}
        if jobs.on_disk:
            by_thread |= {"JBPOOL": jobs.on_disk.pool, **{name: counts[at] for name, counts in on_disk.items()}}
        yield interval_fields(interval) | name | both, {"QAPMJOBMI": by_thread, "QAPMJOBOS": by_job}


def _waits(jobs: Jobs, disks: Disks, job: Row, did: Row, random: Random) -> Row:
    """Return the waits of one job in an interval: for each disk operation the mean time of one."""
    response_us = 1000 * (disks.service_ms + disks.wait_ms)
    operations = {FAULTS: int(did["JBTFLT"]), READS: int(did["JBDBR"]) - int(did["JBTFLT"]), WRITES: int(did["JBDBW"])}
    us = {RUNNING: round(1000 * Decimal(did["JBCPU"])), **{n: round(of * response_us) for n, of in operations.items()}}
    elapsed_us = 1_000_000 * int(job["INTSEC"])
    for bucket, threads in jobs.held_up.items():
        us[bucket] = round(elapsed_us * threads / jobs.count * random.uniform(1 - JOB_NOISE, 1 + JOB_NOISE))
    if (spent_us := sum(us.values())) > elapsed_us:
        raise ValueError(f"{jobs.name} jobs run and wait {spent_us} µs of {elapsed_us}: use more jobs")
    us[IDLE] = elapsed_us - spent_us
    row: Row = {name: job[name] for name in TIME_FIELDS if name in job} | {"JWTDE": job["JBTDE"], "JWDSEQ": 1}
    for n in machine.BUCKETS:
        time_us = us.get(n, 0)
        row[f"JWCT{n:02d}"] = operations.get(n, time_us // WAIT_US.get(n, OTHER_WAIT_US))
        row[f"JWTM{n:02d}"] = time_us
    return row


def _identity(jobs: Jobs, number: int) -> Row:
    name = f"{jobs.name}{number % 10_000:04d}" if len(jobs.name) <= GENERIC else jobs.name
    return {
        "JBNAME": name,
        "JBUSER": jobs.user,
        "JBNBR": f"{100_000 + number:06d}",
        "JBTYPE": jobs.type,
        "JBSTYP": jobs.subtype,
        "JBSTSF": 0,
        "JBTDE": f"{0x1000 + number:016X}",
    }
