"""Submits, lists and cancels jobs on a Flink cluster.

A job resumes from its newest checkpoint while its query and tables are unchanged; otherwise it starts from the
beginning of its topics.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from counterflow.base.errors import CounterflowError
from counterflow.pipelines.jobs import Job, chosen
from counterflow.pipelines.submission import checkpoints
from counterflow.pipelines.submission.driving import drive
from counterflow.pipelines.submission.render import archive, fingerprint, render
from counterflow.pipelines.submission.rest import Flink, cause, connect, moment
from counterflow.schemas.definition import Dataset
from counterflow.schemas.definition import datasets as all_datasets

if TYPE_CHECKING:
    from counterflow.base.kafka import Kafka

_NOT_RESTORED = "JobInitializationException"
"""The exception that Flink raises for an accepted job whose checkpoint it cannot read."""
_ENDED_OFTEN = 2
"""TaskManagers that end by themselves under a job, without a new checkpoint, before it goes back to an older one."""


@dataclass(frozen=True)
class Cluster:
    """Where jobs run.

    Parameters
    ----------
    flink_url : Flink's REST interface.
    certificate : PEM file with the key and the certificate that this process presents to it, and the only one that it
        trusts; None where Flink speaks plain HTTP. Flink's client reads its own from Flink's configuration.
    kafka : whose address the jobs connect to.
    connection : properties of Kafka's Java client with which jobs connect. Anyone with access to Flink's REST interface
        can read them, so they hold the path of a password, not the password.
    python : the interpreter that has PyFlink.
    environment : additional environment variables of Flink's client (`FLINK_HOME`, `FLINK_CONF_DIR`, `FLINK_LIB_DIR`).
    checkpoints : folder of all checkpoints, with a folder of each job and fingerprint.
    datasets : the definitions whose topics are read and written.
    end_task_manager : ends the TaskManager, which its supervisor starts again; None where this process may not.
    """

    flink_url: str
    certificate: Path | None
    kafka: Kafka
    connection: Mapping[str, str]
    python: Path
    environment: Mapping[str, str]
    checkpoints: Path
    datasets: Mapping[str, Dataset] = field(default_factory=all_datasets)
    end_task_manager: Callable[[], None] | None = None

    @property
    def lock(self) -> Path:
        """The file that is locked while jobs are submitted or cancelled; not on the disk of the checkpoints."""
        return self.checkpoints.with_name("jobs.lock")

    def folder(self, job: Job) -> Path:
        """Return the folder of the checkpoints that fit a job: those of another query or other tables do not."""
        return self.checkpoints / f"{job.name}-{fingerprint(job, self.datasets)[:8]}"

    def connect(self) -> AbstractContextManager[Flink]:
        """Open a connection to Flink; a failure on it is raised as `CounterflowError`."""
        return connect(self.flink_url, self.certificate)


@dataclass(frozen=True)
class Submission:
    """What `submit` found or did: a job was `running`, `resumed` from a checkpoint or `started` from the beginning.

    `given_up` lists newer checkpoints from which the job did not come back.
    """

    job: str
    job_id: str
    what: str
    checkpoint: str | None = None
    given_up: tuple[str, ...] = ()


class JobRefused(CounterflowError):  # noqa: N818 - of the job, not of the program
    """Flink answered and rejected a job."""


@dataclass(frozen=True)
class Status:
    """A job as `jobs list` shows it: Flink's name of its state or `NOT SUBMITTED`, and its newest failure."""

    job: str
    state: str
    job_id: str | None = None
    started: datetime | None = None
    checkpointed: datetime | None = None
    problem: str | None = None


def submit(cluster: Cluster, jobs: Sequence[Job] | None = None) -> list[Submission]:
    """Ensure that the jobs (default: all) run; idempotent: a running job is left alone.

    Where Flink cannot restore a checkpoint, the one before it is used.
    Raises `CounterflowError` when Flink does not answer, and `JobRefused` after submitting all other jobs.
    """
    by_name = {job.name: job for job in (chosen() if jobs is None else jobs)}
    refused: list[JobRefused] = []
    given_up: dict[str, tuple[str, ...]] = {}
    with checkpoints.locked(cluster.lock) as lock:
        with cluster.connect() as flink:
            found, missing = _look(cluster, flink, by_name.values(), given_up)
        while missing:
            resumed = {name: checkpoints.newest(cluster.folder(by_name[name])) for name in missing}
            requests = [_request(cluster, by_name[name], checkpoint=resumed[name]) for name in missing]
            again: list[str] = []
            for name, job_id, error in drive(cluster.python, cluster.environment, requests, lock=lock):
                checkpoint = resumed[name]
                if job_id:
                    uri = checkpoint.as_uri() if checkpoint else None
                    what = "resumed" if checkpoint else "started"
                    found.append(Submission(name, job_id, what, uri, given_up.get(name, ())))
                elif checkpoint and _NOT_RESTORED in error:
                    _give_up(name, checkpoint, given_up)
                    again.append(name)
                else:
                    refused.append(JobRefused(f"Flink rejected {name}: {cause(error)}"))
            missing = again
    if refused:
        raise refused[0]
    return found


def _look(
    cluster: Cluster, flink: Flink, jobs: Iterable[Job], given_up: dict[str, tuple[str, ...]]
) -> tuple[list[Submission], list[str]]:
    """Return the jobs that run, and the names of those to submit, after cancelling what runs in their place."""
    found: list[Submission] = []
    missing: list[str] = []
    cancelled: list[str] = []
    without_python = False
    all_running = flink.running()
    for job in jobs:
        running = {one["jid"]: one["state"] for one in all_running if one["name"] == job.name}
        if len(running) == 1:
            [(job_id, state)] = running.items()
            if flink.fingerprint(job_id) == fingerprint(job, cluster.datasets):
                restarting = state == "RESTARTING"
                without_python |= restarting and bool(job.step) and flink.without_python(job_id)
                made = checkpoints.newest_first(cluster.folder(job))
                if not (restarting and _cannot_come_back(flink, job_id, made)):
                    found.append(Submission(job.name, job_id, "running"))
                    continue
                for bad in made[:1]:
                    _give_up(job.name, bad, given_up)
        cancelled += running  # an older query, or unable to restore
        missing.append(job.name)
    flink.cancel(cancelled)
    if without_python and cluster.end_task_manager:
        # Its interpreter (pemja) keeps the interruption of a task that was cancelled while it started.
        cluster.end_task_manager()
    return found, missing


def _cannot_come_back(flink: Flink, job_id: str, made: Sequence[Path]) -> bool:
    """Return whether the newest of the checkpoints that were made keeps a restarting job from running.

    A TaskManager of Flink 2.3 ends where a join in mini-batches cannot be restored (`MiniBatchStreamingJoinOperator`
    closes what it has not opened), so that the JobManager never learns of it, and every job restarts. Something else
    may end it: then no job goes back further than to an older checkpoint.
    """
    if flink.cannot_restore(job_id):
        return True
    return len(made) > 1 and flink.task_managers_ended(job_id) >= _ENDED_OFTEN


def _give_up(job: str, checkpoint: Path, given_up: dict[str, tuple[str, ...]]) -> None:
    checkpoints.set_aside(checkpoint)
    given_up[job] = (*given_up.get(job, ()), checkpoint.as_uri())


def watch(
    cluster: Cluster, report: Callable[[Submission | CounterflowError], None], jobs: Sequence[Job] | None = None
) -> None:
    """Keep the jobs running, forever: a restarted JobManager has none.

    Looks every five seconds, after a problem every second. Reports each submission and each problem, and waits
    for a cluster that does not answer. Raises `JobRefused` where Flink rejects a job before the first successful round.
    """
    taken = False
    while True:
        try:
            for submission in submit(cluster, jobs):
                if submission.what != "running":
                    report(submission)
            taken = True
            time.sleep(5)
        except CounterflowError as error:
            if isinstance(error, JobRefused) and not taken:
                raise
            report(error)
            time.sleep(1)


def cancel(cluster: Cluster, jobs: Sequence[Job] | None = None, *, patience_s: float = math.inf) -> list[str]:
    """Cancel jobs (default: all) and wait up to `patience_s`; return those that ran. Their checkpoints stay."""
    names = {job.name for job in (chosen() if jobs is None else jobs)}
    with checkpoints.locked(cluster.lock), cluster.connect() as flink:
        running = [job for job in flink.running() if job["name"] in names]
        flink.cancel((job["jid"] for job in running), patience_s)
    return [job["name"] for job in running]


def states(cluster: Cluster) -> dict[str, str]:
    """Return Flink's state of each of its running jobs: one request, where `listing` needs several a job."""
    with cluster.connect() as flink:
        return {job["name"]: job["state"] for job in flink.running()}


def listing(cluster: Cluster, jobs: Sequence[Job] | None = None) -> list[Status]:
    """Return the status of the jobs (default: all)."""
    with cluster.connect() as flink:
        running = {job["name"]: job for job in flink.running()}
        return [
            _status(flink, running[job.name]) if job.name in running else Status(job.name, "NOT SUBMITTED")
            for job in (chosen() if jobs is None else jobs)
        ]


def _request(cluster: Cluster, job: Job, *, checkpoint: Path | None) -> dict[str, Any]:
    rules = cluster.checkpoints.with_name("rules.zip")
    if job.step:
        rules.write_bytes(archive())
    request = render(
        job,
        cluster.datasets,
        bootstrap=cluster.kafka.bootstrap,
        connection=cluster.connection,
        checkpoints=cluster.folder(job).as_uri(),
        rules=rules,
    )
    if checkpoint:
        request["configuration"]["execution.state-recovery.path"] = checkpoint.as_uri()
    return request


def _status(flink: Flink, job: Mapping[str, Any]) -> Status:
    job_id = job["jid"]
    started = moment(job["start-time"])
    return Status(job["name"], job["state"], job_id, started, flink.checkpoints(job_id)[0], flink.problem(job_id))
