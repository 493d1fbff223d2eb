"""A job that is submitted, killed, cancelled and changed, on real Kafka and Flink: no row is lost, none counts twice.

What it computes is compared with the recomputation of its own test.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
from collections.abc import Iterator, Sequence
from typing import Any

import psutil
import pytest

from counterflow.base.errors import CounterflowError
from counterflow.pipelines import submission
from counterflow.pipelines.jobs.io_mix.test_io_mix import NOW, recompute, recording
from counterflow.stack import lifecycle, supervision
from counterflow.stack.settings import StackSettings
from tests.support.flink_line import Line, Record
from tests.support.waiting import PATIENCE_S, until

JOBS = ("io_mix",)


def halves(rows: Sequence[tuple[str, Record]]) -> tuple[list[tuple[str, Record]], list[tuple[str, Record]]]:
    """Split so that nearly every interval has rows in both."""
    return [*rows[::2]], [*rows[1::2]]


@pytest.fixture(scope="module")
def line(flink: StackSettings) -> Iterator[Line]:
    """A job of four subtasks, on topics of four partitions. The process that submits it first is killed meanwhile."""
    line = Line(flink, recompute, JOBS, parallelism=4)
    killed = multiprocessing.get_context("fork").Process(target=line.submit)
    killed.start()
    [client, *_] = until(clients, every_s=0.1)
    killed.kill()
    killed.join(PATIENCE_S)
    assert client.is_running(), "the client outlives it, and keeps the lock"
    assert line.submit()
    assert not client.is_running(), "the lock was waited for"
    yield line
    submission.cancel(line.cluster, line.jobs)  # its slots


def clients() -> list[psutil.Process]:
    found = []
    for child in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.NoSuchProcess):  # it ended meanwhile
            if "driver.py" in " ".join(child.cmdline()):
                found.append(child)
    return found


def test_a_process_that_is_killed_while_it_submits_starts_no_job_twice(line: Line) -> None:
    running = [(found["jid"], found["name"]) for found in running_jobs(line)]
    assert running == [(found.job_id, found.job) for found in line.submit() if found.what == "running"]
    assert len(running) == len(JOBS)


def test_a_killed_job_manager_costs_no_row(flink: StackSettings, line: Line) -> None:
    """Started again, it has no jobs. A killed TaskManager: the test of link_load, and the faults."""
    before, after = halves(recording("killed", NOW, seed=8))
    line.publish(before)
    line.check()
    until(lambda: all(job.checkpointed for job in submission.listing(line.cluster, line.jobs)), "checkpoints")
    os.kill(supervision.states(flink)["jobmanager"].pid, signal.SIGKILL)
    line.publish(after)
    lifecycle.start(flink, "jobmanager", "taskmanager")
    assert {found.what for found in line.submit()} == {"resumed"}
    line.check()


def running_jobs(line: Line) -> list[dict[str, Any]]:
    """Return what Flink reports of each of the line's jobs."""
    names = {job.name for job in line.jobs}
    with line.cluster.connect() as connected:
        return [job for job in connected.running() if job["name"] in names]


def test_a_running_job_is_left_alone_and_a_cancelled_one_continues_at_another_parallelism(line: Line) -> None:
    assert [found.what for found in line.submit()] == ["running"]
    before, after = halves(recording("rescaled", NOW, seed=9))
    line.publish(before)
    line.check()
    assert sorted(submission.cancel(line.cluster, line.jobs)) == sorted(job.name for job in line.jobs)
    assert {status.state for status in submission.listing(line.cluster, line.jobs)} == {"NOT SUBMITTED"}
    line.publish(after)
    changed = [job.model_copy(update={"parallelism": 1}) for job in line.jobs]
    for found in line.submit(changed):
        assert found.what == "resumed"
        assert found.checkpoint
    assert {job["tasks"]["total"] for job in running_jobs(line)} == {3}
    line.check()


def test_another_query_starts_from_the_beginning_though_flink_refuses_one_beside_it(line: Line) -> None:
    before = line.versions("io_mix")
    [job] = line.jobs
    assert "SUM(commits)" in job.query
    changed = job.model_copy(update={"query": job.query.replace("SUM(commits)", "SUM(commits) + 0")})
    unknown = job.query.replace("SUM(commits)", "SUM(no_such_column)", 1)
    wrong = job.model_copy(update={"name": "wrong", "query": unknown})
    with pytest.raises(CounterflowError, match=r"Flink rejected wrong: .*no_such_column"):
        line.submit([wrong, changed])

    def are_written_again() -> bool:
        return all(len(rows) > len(before[key]) for key, rows in line.versions("io_mix").items())

    until(are_written_again, "every result is written again", every_s=0.5)
    line.check()
