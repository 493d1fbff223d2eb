"""Submits, lists, cancels and reruns jobs on a Flink cluster.

A job resumes from its newest checkpoint while its query and tables are unchanged; otherwise it starts from the
beginning of its topics.
"""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from secrets import token_hex
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from counterflow.base.errors import CounterflowError
from counterflow.pipelines.jobs.definition import Job, chosen, stages
from counterflow.pipelines.jobs.driving import Driver
from counterflow.pipelines.jobs.ledger import Entry, locked
from counterflow.pipelines.jobs.plan import Plan, Plans
from counterflow.pipelines.jobs.render import HOLD_ON, Period, columns_of, fingerprint, render, results
from counterflow.pipelines.jobs.rest import Flink, cause, connect, moment
from counterflow.pipelines.jobs.shipped import archive
from counterflow.schemas.definition import Dataset
from counterflow.schemas.definition import datasets as all_datasets

if TYPE_CHECKING:
    from counterflow.base.kafka import Kafka
    from counterflow.pipelines.jobs.landed import Tables

_NOT_RESTORED = "JobInitializationException"
"""The exception that Flink raises for an accepted and planned job whose checkpoint it cannot read."""
_ENDED_OFTEN = 2
"""TaskManagers that end by themselves under a job, without a new checkpoint, before it goes back to an older one."""


@dataclass(frozen=True)
class Cluster:
    """Where jobs run.

    Parameters
    ----------
    flink_url : Flink's REST interface.
    certificate : PEM file with the key and the certificate that this process presents to it, and the only one that it
        trusts; None where Flink speaks plain HTTP. The driver reads its own from Flink's configuration.
    kafka : connection with which this process counts what was written to the topics.
    connection : properties of Kafka's Java client with which jobs connect. Anyone with access to Flink's REST interface
        can read them, so they hold the path of a password, not the password.
    python : the interpreter that has PyFlink.
    environment : additional environment variables of the driver (`FLINK_HOME`, `FLINK_CONF_DIR`, `FLINK_LIB_DIR`).
    checkpoints : folder of all checkpoints, with a folder per Flink job id.
    ledger : file that maps jobs to Flink job ids.
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
    ledger: Path
    datasets: Mapping[str, Dataset] = field(default_factory=all_datasets)
    end_task_manager: Callable[[], None] | None = None

    def connect(self) -> AbstractContextManager[Flink]:
        """Open a connection to Flink; a failure on it is raised as `CounterflowError`."""
        return connect(self.flink_url, self.certificate)

    def driver(self) -> Driver:
        """Return a driver for repeated planning: its start takes seconds."""
        return Driver(self.python, self.environment)

    def plans(self, folder: Path | None = None) -> Plans:
        """Return the plans in a folder; default: those that are kept beside the ledger."""
        library = Path(self.environment["FLINK_LIB_DIR"])
        return Plans(folder or self.ledger.with_name("plans"), [self.python, *library.glob("*.jar")])


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


def submit(
    cluster: Cluster,
    jobs: Sequence[Job] | None = None,
    *,
    driver: Driver | None = None,
) -> list[Submission]:
    """Ensure that the jobs (default: all) run; idempotent: a running job is left alone.

    Where Flink cannot restore a checkpoint, the one before it is used.
    Raises `CounterflowError` when Flink does not answer, and `JobRefused` after submitting all other jobs.
    """
    if driver is None:
        with cluster.driver() as driver:
            return submit(cluster, jobs, driver=driver)
    jobs = chosen() if jobs is None else jobs
    with cluster.connect() as flink:
        return _submit(cluster, flink, driver, jobs, _fingerprints(cluster, jobs))


def _submit(
    cluster: Cluster, flink: Flink, driver: Driver, jobs: Sequence[Job], fingerprints: Mapping[str, str]
) -> list[Submission]:
    found: list[Submission] = []
    entries: dict[str, Entry] = {}
    problems: list[JobRefused] = []
    by_name = {job.name: job for job in jobs}
    cancelled: list[str] = []
    without_python = False
    with locked(cluster.ledger) as ledger:
        all_running = flink.running()
        for job in by_name.values():
            known, now = ledger.get(job.name), fingerprints[job.name]
            same = known if known and known.fingerprint == now else None
            running = {one["jid"]: one["state"] for one in all_running if one["name"] == job.name}
            if same and [*running] == [same.job_id]:
                restarting = running[same.job_id] == "RESTARTING"
                without_python |= restarting and bool(job.step) and flink.without_python(same.job_id)
                older = _older(flink, same, cluster) if restarting else None
                if older is None:
                    found.append(Submission(job.name, same.job_id, "running"))
                    continue
                same = older
            cancelled += running  # an older query, not in the ledger, or unable to restore
            entries[job.name] = same or Entry(job_id="", fingerprint=now)
        flink.cancel(cancelled)
        if without_python and cluster.end_task_manager:
            # Its interpreter (pemja) keeps the interruption of a task that was cancelled while it started.
            cluster.end_task_manager()
        plans = cluster.plans()
        while entries:
            taken: dict[str, tuple[Plan, str | None, str, str | None]] = {}
            again: dict[str, Entry] = {}
            for name, plan in plans.of(driver, [_request(cluster, by_name[name]) for name in entries]):
                if isinstance(plan, str):
                    problems.append(JobRefused(f"Flink rejected {name}: {cause(plan)}"))
                    continue
                checkpoint, job_id = entries[name].checkpoint(cluster.checkpoints), token_hex(16)
                error = flink.submit(plan.graph(job_id, checkpoint), plan.files)
                taken[name] = plan, checkpoint, job_id, error
            for name, (plan, checkpoint, job_id, refused) in taken.items():
                entry, error = entries[name], refused or flink.initialized(job_id)
                if error is None:
                    entry = entry.model_copy(update={"job_id": job_id, "restored": checkpoint})
                    ledger.put(name, entry)
                    what = "resumed" if checkpoint else "started"
                    found.append(Submission(name, job_id, what, checkpoint, entry.given_up))
                elif checkpoint and _NOT_RESTORED in error:
                    again[name] = entry.without(checkpoint)
                elif plan.kept:  # made by another Flink, perhaps
                    plan.path.unlink()
                    again[name] = entry
                else:
                    problems.append(JobRefused(f"Flink rejected {name}: {cause(error)}"))
            entries = again
    if problems:
        raise problems[0]
    return found


def _fingerprints(cluster: Cluster, jobs: Iterable[Job]) -> dict[str, str]:
    return {job.name: fingerprint(job, cluster.datasets) for job in jobs}


def _older(flink: Flink, entry: Entry, cluster: Cluster) -> Entry | None:
    """Return the entry of a restarting job without its newest checkpoint, where that keeps the job from running.

    A TaskManager of Flink 2.3 ends where a join in mini-batches cannot be restored (`MiniBatchStreamingJoinOperator`
    closes what it has not opened), so that the JobManager never learns of it, and every job restarts. Something else
    may end it: then no job goes back further than to an older checkpoint.
    """
    newest = entry.checkpoint(cluster.checkpoints)
    older = entry.without(newest) if newest else entry
    if flink.cannot_restore(entry.job_id):
        return older
    again = older.checkpoint(cluster.checkpoints) and flink.task_managers_ended(entry.job_id) >= _ENDED_OFTEN
    return older if again else None


def watch(
    cluster: Cluster,
    report: Callable[[Submission | CounterflowError], None],
    *,
    jobs: Sequence[Job] | None = None,
    every_s: float = 5,
    again_s: float = 1,
) -> None:
    """Keep the jobs running, forever: a restarted JobManager has none.

    Looks every `every_s` seconds, after a problem every `again_s`. Reports each submission and each problem, and waits
    for a cluster that does not answer. Raises `JobRefused` where Flink rejects a job before the first successful round.
    """
    jobs = chosen() if jobs is None else jobs
    taken = False
    fingerprints = _fingerprints(cluster, jobs)  # once: each takes milliseconds
    with cluster.driver() as driver:
        while True:
            try:
                with cluster.connect() as flink:  # kept while it lasts: a new one costs more than a request
                    while True:
                        for submission in _submit(cluster, flink, driver, jobs, fingerprints):
                            if submission.what != "running":
                                report(submission)
                        taken = True
                        driver.end()  # its JVM takes half a gibibyte, and the plans are kept
                        time.sleep(every_s)
            except CounterflowError as error:
                if isinstance(error, JobRefused) and not taken:
                    raise
                report(error)
            time.sleep(again_s)


def cancel(cluster: Cluster, jobs: Sequence[Job] | None = None, *, patience_s: float = math.inf) -> list[str]:
    """Cancel jobs (default: all) and wait up to `patience_s`; return those that ran. Their checkpoints stay."""
    names = {job.name for job in (chosen() if jobs is None else jobs)}
    with locked(cluster.ledger), cluster.connect() as flink:
        running = [job["name"] for job in flink.running() if job["name"] in names]
        flink.cancel(_ids(flink, names), patience_s)
    return running


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


def rerun(
    cluster: Cluster,
    period: Period,
    jobs: Sequence[Job] | None = None,
    *,
    driver: Driver | None = None,
    tables: Tables | None = None,
) -> dict[str, int]:
    """Recompute results, and wait; return how many were written, by dataset.

    Their input is what landed in `tables`, else everything that the topics hold. A job that reads what another of them
    writes follows it, and reads what that one has written.

    The running jobs continue: both write under the same keys, and the greater `n` wins. A job that judges is left out:
    it receives the results that change.
    Raises `CounterflowError` when a recomputation fails, or when no chosen job has one.
    """
    from counterflow.pipelines.jobs.written import ends, from_offsets, keys_since  # Kafka's client: only this needs it

    if driver is None:
        with cluster.driver() as driver:
            return rerun(cluster, period, jobs, driver=driver, tables=tables)
    jobs = chosen() if jobs is None else jobs
    again = [job.model_copy(update={"name": f"{job.name} rerun"}) for job in jobs if job.rule is None]
    if not again:
        names = ", ".join(job.name for job in jobs)
        hint = "counterflow rules replay judges stored intervals again"
        raise CounterflowError(f"{names}: verdicts cannot be recomputed", hint=hint, exit_code=2)
    written = {dataset.dataset: dataset.topic for job in again for dataset in results(job, cluster.datasets)}
    with cluster.connect() as flink:
        flink.running()  # fails early where Flink does not answer
        before = {topic: ends(cluster.kafka, topic) for topic in written.values()}
        landed = tables.publish(_read(cluster, again), period) if tables else {}
        inputs = {**landed, **{dataset: from_offsets(before[topic]) for dataset, topic in written.items()}}
        try:
            with TemporaryDirectory(prefix="counterflow-plans-") as folder:
                for stage in stages(again):
                    requests = [_request(cluster, job, period=period, inputs=inputs) for job in stage]
                    run_in_turn(flink, cluster.plans(Path(folder)).of(driver, requests), cluster.flink_url)
        except BaseException:
            flink.cancel(_ids(flink, {job.name for job in again}))
            raise
    return {
        dataset: sum(_within(period, key) for key in keys_since(cluster.kafka, topic, before[topic]))
        for dataset, topic in written.items()
    }


def run_in_turn(flink: Flink, plans: Iterable[tuple[str, Plan | str]], url: str) -> None:
    """Run jobs to their end, as many at a time as slots are free: Flink fails a job for which none is.

    Raises `CounterflowError` where Flink rejects a job, or one does not finish; `url` is for its hint.
    """
    room = max(1, flink.free_slots())
    running: deque[tuple[str, str]] = deque()
    for name, plan in plans:
        if len(running) == room:
            _finish(flink, *running.popleft(), url)
        job_id = token_hex(16)
        error = plan if isinstance(plan, str) else flink.submit(plan.graph(job_id, None), plan.files)
        if error := error or flink.initialized(job_id):
            raise CounterflowError(f"Flink rejected {name}: {cause(error)}")
        running.append((name, job_id))
    for name, job_id in running:
        _finish(flink, name, job_id, url)


def _finish(flink: Flink, name: str, job_id: str, url: str) -> None:
    if (state := flink.wait(job_id)) != "FINISHED":
        raise CounterflowError(f"{name} ended as {state}: {flink.problem(job_id)}", hint=f"{url}/#/job/{job_id}")


def _within(period: Period, key: Mapping[str, Any]) -> bool:
    inside = period.begin <= datetime.fromisoformat(key["ts"]) < period.end
    return inside and period.system in (None, key["system"])


def _read(cluster: Cluster, jobs: Sequence[Job]) -> list[tuple[Dataset, set[str]]]:
    """Return the datasets whose landed rows jobs read, each with the columns that any of them reads.

    Those are neither configuration nor what one of the jobs writes.
    """
    others = cluster.datasets.keys() - HOLD_ON - {dataset for job in jobs for dataset in job.writes}
    readers = {name: [job for job in jobs if name in job.reads] for name in others}
    return [
        (cluster.datasets[name], set().union(*(columns_of(job, cluster.datasets[name]) for job in reading)))
        for name, reading in sorted(readers.items())
        if reading
    ]


def _request(
    cluster: Cluster,
    job: Job,
    *,
    period: Period | None = None,
    inputs: Mapping[str, Mapping[str, str]] | None = None,
) -> dict[str, Any]:
    rules = cluster.ledger.with_name("rules.zip")
    if job.step:
        rules.parent.mkdir(parents=True, exist_ok=True)
        rules.write_bytes(archive())
    return render(
        job,
        cluster.datasets,
        bootstrap=cluster.kafka.bootstrap,
        connection=cluster.connection,
        checkpoints=cluster.checkpoints.as_uri(),
        rules=rules,
        period=period,
        inputs=inputs,
    )


def _ids(flink: Flink, names: set[str]) -> list[str]:
    return [job["jid"] for job in flink.running() if job["name"] in names]


def _status(flink: Flink, job: Mapping[str, Any]) -> Status:
    job_id = job["jid"]
    started = moment(job["start-time"])
    return Status(job["name"], job["state"], job_id, started, flink.checkpointed(job_id), flink.problem(job_id))
