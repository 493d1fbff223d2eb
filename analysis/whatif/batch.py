"""What would a faster processor, faster disks or a split job do to a night of batch jobs?

The elapsed time of a job is the sum of its parts, which the wait buckets of Collection Services measure. A lever scales
parts, all else stays as measured:

- `cpu_speed` s: time on processors / s, and queueing for them / s, since the work in front takes as much less.
- `disk_ms` d: each wait for a disk takes d, queue included: disk, disk queueing and faults are scaled together to d x
  waits.
- a job split in n: processor, disk, fault and journal time / n. What is spent on others stays: both queues, locks, and
  what no group holds.

A job begins as long after the end of the one that it follows as it did, or when it did. docs/whatif.md has the model,
docs/studies/batch.md its errors. It stands in for STRBCHMDL (Power Systems Performance Capabilities Reference, B).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Annotated, NamedTuple

from pydantic import AfterValidator, BaseModel, ConfigDict

from counterflow.base.clickhouse import ClickHouse, Settings

PARTS = ("cpu_s", "cpu_queueing_s", "disk_s", "disk_queueing_s", "faults_s", "locks_s", "journal_s", "other_s")
"""Parts of the elapsed time of a job, s; their sum is its elapsed time."""

DISK = ("disk_s", "disk_queueing_s", "faults_s")
DIVIDED = ("cpu_s", "disk_s", "faults_s", "journal_s")
"""Parts that the jobs of a split share."""

UNEXPLAINED_SHARE, UNEXPLAINED_S = 0.05, 2.0
"""Most of the elapsed time, and least time, by which the parts may miss it; ours. An end is stated to the second."""

_Utc = Annotated[datetime, AfterValidator(lambda ts: ts if ts.tzinfo else ts.replace(tzinfo=UTC))]


class BatchJob(BaseModel):
    """One job of a night: a row of the view `batch_job_within`, which has the meaning of each column."""

    model_config = ConfigDict(frozen=True)

    system: str
    job: str
    job_name: str
    begin_ts: _Utc
    end_ts: _Utc
    began: bool = True
    ended: bool = True
    elapsed_s: float
    explained_s: float | None = None
    cpu_s: float | None = None
    cpu_queueing_s: float | None = None
    disk_s: float | None = None
    disk_queueing_s: float | None = None
    faults_s: float | None = None
    locks_s: float | None = None
    journal_s: float | None = None
    other_s: float | None = None
    disk_waits: float | None = None
    follows: str | None = None


def read_stored(client: ClickHouse, settings: Settings) -> list[BatchJob]:
    """Return the jobs of the parameters `systems`, `since` and `until`."""
    return [BatchJob.model_validate(row) for row in client.rows(_STORED, settings)]


_STORED = """
SELECT * FROM counterflow.batch_job_within(
  since = {since:DateTime64(3)}, until = {until:DateTime64(3)}, systems = {systems:Array(String)}
)
ORDER BY system, begin_ts, job
"""


class Levers(NamedTuple):
    """What is changed: speed of processors, time of a disk wait, and the name of a job that runs as several."""

    cpu_speed: float = 1.0
    disk_ms: float | None = None
    job_name: str | None = None
    split: int = 1


class ModelledJob(NamedTuple):
    """A job with the levers: the parts and their sum, s, or the `reason` why they are unknown; begin and end."""

    job: BatchJob
    parts: dict[str, float]
    elapsed_s: float | None
    reason: str | None
    begin_ts: datetime
    end_ts: datetime


class BatchNight(NamedTuple):
    """The jobs of one system, in order of their begin.

    Parameters
    ----------
    servers : number of jobs that ran before, throughout and after the period, which are left out.
    chain : identities of the jobs that decide when the night ends as measured, in order of time.
    chain_after : the same with the levers, where another chain may decide.
    end_ts : as measured; None where no job ended.
    end_after_ts : with the levers; None with the `reason`.
    notes : what bounds the answer.
    """

    system: str
    jobs: tuple[ModelledJob, ...]
    servers: int
    chain: tuple[str, ...]
    chain_after: tuple[str, ...]
    end_ts: datetime | None
    end_after_ts: datetime | None
    reason: str | None
    notes: tuple[str, ...]


def nights(rows: Iterable[BatchJob], levers: Levers) -> list[BatchNight]:
    """Return what the levers would do to the night of each system."""
    by_system: dict[str, list[BatchJob]] = defaultdict(list)
    for row in rows:
        by_system[row.system].append(row)
    return [_night(system, of, levers) for system, of in sorted(by_system.items())]


def changed(job: BatchJob, levers: Levers) -> tuple[dict[str, float], str | None]:
    """Return the parts of a job with the levers, or the reason why they are unknown."""
    parts = {name: value for name in PARTS if (value := getattr(job, name)) is not None}
    if reason := _unknown(job, levers):
        return {}, reason
    for name in ("cpu_s", "cpu_queueing_s"):
        parts[name] = parts.get(name, 0.0) / levers.cpu_speed
    if levers.disk_ms is not None and job.disk_waits is not None:
        measured_s = math.fsum(parts.get(name, 0.0) for name in DISK)
        left = levers.disk_ms / 1000 * job.disk_waits / measured_s if measured_s else 1.0
        parts |= {name: parts[name] * left for name in DISK if name in parts}
    if job.job_name == levers.job_name:
        parts |= {name: parts[name] / levers.split for name in DIVIDED if name in parts}
    return parts, None


def _unknown(job: BatchJob, levers: Levers) -> str | None:
    """Return why the parts of a job, or those that a lever needs, are unknown."""
    if job.explained_s is None:
        return "no wait buckets of its first thread (QAPMJOBWT)"
    if abs(job.explained_s - job.elapsed_s) > max(UNEXPLAINED_S, UNEXPLAINED_SHARE * job.elapsed_s):
        return f"its wait buckets hold {job.explained_s:.0f} of {job.elapsed_s:.0f} s"
    if levers.disk_ms is not None and job.disk_waits is None:
        return "the number of its waits for disks is unknown"
    return None


def _night(system: str, rows: Sequence[BatchJob], levers: Levers) -> BatchNight:
    jobs = sorted((row for row in rows if row.began or row.ended), key=lambda row: (row.begin_ts, row.job))
    modelled: dict[str, ModelledJob] = {}
    for job in jobs:
        modelled[job.job] = _modelled(job, levers, modelled)
    chain = _chain([(job.end_ts, job) for job in jobs if job.began and job.ended])
    after = _chain([(one.end_ts, one.job) for one in modelled.values() if one.job.began and one.job.ended])
    undecided = [modelled[name] for name in after if modelled[name].reason]
    reason = "no job began and ended in the period" if not chain else None
    if undecided and levers != Levers():
        reason = "; ".join(f"{one.job.job}: {one.reason}" for one in undecided)
    return BatchNight(
        system,
        tuple(modelled.values()),
        len(rows) - len(jobs),
        chain,
        after,
        modelled[chain[-1]].job.end_ts if chain else None,
        modelled[after[-1]].end_ts if after and not reason else None,
        reason,
        tuple(_notes(jobs, modelled, levers)),
    )


def _modelled(job: BatchJob, levers: Levers, before: dict[str, ModelledJob]) -> ModelledJob:
    """Return a job with the levers; one whose parts are unknown keeps its measured time, for those that follow it."""
    parts, reason = changed(job, levers)
    measured_s = math.fsum(value for name in PARTS if (value := getattr(job, name)) is not None)
    saved_s = 0.0 if reason else measured_s - math.fsum(parts.values())
    begin = job.begin_ts
    if job.follows in before:
        first = before[job.follows]
        begin = first.end_ts + (job.begin_ts - first.job.end_ts)
    end = max(begin, begin + (job.end_ts - job.begin_ts) - timedelta(seconds=saved_s))
    elapsed_s = None if reason else max(0.0, job.elapsed_s - saved_s)
    return ModelledJob(job, parts, elapsed_s, reason, begin, end)


def _chain(ends: Sequence[tuple[datetime, BatchJob]]) -> tuple[str, ...]:
    """Return the jobs from the one that ended last back to one that follows none, in order of time."""
    by_name = {job.job: job for _, job in ends}
    found: list[str] = []
    job = max(ends, key=lambda end: (end[0], end[1].job))[1] if ends else None
    while job is not None and job.job not in found:
        found.append(job.job)
        job = by_name.get(job.follows or "")
    return tuple(reversed(found))


def _notes(jobs: Sequence[BatchJob], modelled: dict[str, ModelledJob], levers: Levers) -> Iterable[str]:
    if cut := sum(not (job.began and job.ended) for job in jobs):
        yield f"{cut} jobs began before the period or ended after it: no chain goes through them"
    if held := sum(one.reason is not None for one in modelled.values()):
        yield f"{held} jobs have parts that are unknown, and keep their measured time"
    if any(job.disk_queueing_s is None and job.disk_s is not None for job in jobs):
        yield "disk_queueing_s is unknown where the disks have no service and wait times: disk_s contains it"
    if levers.job_name and all(job.job_name != levers.job_name for job in jobs):
        yield f"no job is named {levers.job_name}"
    if levers.job_name and levers.split > 1:
        yield "a split needs processors and disks that have room; their limits do not enter"
