"""The view of batch jobs: by hand, and on the files of a simulated night, whose jobs are known."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from counterflow.analysis.queries import BEGINNING, END, queries, restricted, run_stored
from counterflow.analysis.whatif.batch import BatchJob, read_stored
from counterflow.base.clickhouse import ClickHouse
from counterflow.simulate import simulate
from counterflow.simulate.cases.batch_night import MACHINE, STEPS
from counterflow.simulate.night import play
from tests.support.command_line import run
from tests.support.nights import measured
from tests.support.tables import insert_each

BEGIN = datetime(2026, 5, 4, 20, tzinfo=UTC)
SECOND = timedelta(seconds=1)


def stamped(minutes: int, **columns: Any) -> dict[str, Any]:
    return {"ts": BEGIN + timedelta(minutes=minutes), **columns}


def job(minutes: int, name: str, event: str, **columns: Any) -> tuple[str, dict[str, Any]]:
    identity = {"job": f"{name}/{event}", "job_number": "1", "job_user": "ANN", "job_name": name, "task": name}
    return "job", stamped(minutes, **identity, command=name, job_type="B", job_event=event, **columns)


def waited(minutes: int, task: str, **seconds: float) -> list[tuple[str, dict[str, Any]]]:
    groups = {
        "cpu": (1, "dispatched_cpu"),
        "disk": (6, "disk"),
        "faults": (5, "disk"),
        "locks": (16, "lock_contention"),
    }
    return [
        (
            "wait",
            stamped(
                minutes, task=task, bucket=number, bucket_name=part, wait_group=group, wait_ms=1000 * s, waits=100.0
            ),
        )
        for part, s in seconds.items()
        for number, group in [groups[part]]
    ]


def read(client: ClickHouse) -> dict[str, BatchJob]:
    return {row.job_name: row for row in read_stored(client, restricted((), BEGINNING, END))}


def test_jobs_by_hand(client: ClickHouse) -> None:
    """FIRST runs from 20:05 to 20:13:20, SECOND from 20:13:50 to 20:14:30; LATER begins two minutes after that.

    EARLY ends at 20:01, four minutes before FIRST begins: it is in no chain.
    """
    rows = [
        job(10, "EARLY", "started_and_ended", interval_s=60.0),
        *waited(10, "EARLY", cpu=30),
        job(10, "FIRST", "started"),
        *waited(10, "FIRST", cpu=200, disk=100),
        job(20, "FIRST", "ended", interval_s=200.0),
        *waited(20, "FIRST", cpu=50, faults=50, locks=100),
        job(20, "SECOND", "started_and_ended", interval_s=270.0),
        *waited(20, "SECOND", cpu=40),
        job(20, "LATER", "started"),
        *waited(20, "LATER", cpu=210),
        job(20, "SERVER", "running"),
        job(20, "PRESTART", "started", job_subtype="J"),
        job(20, "THREAD", "started", secondary_thread=True),
        ("disk", stamped(10, disk="D1", leaf=True, transfers=10.0, service_ms=3.0, wait_ms=1.0)),
    ]
    insert_each(client, rows, interval_s=600.0, system="SYSA", source="ibmi_tables")
    found = read(client)
    assert sorted(found) == ["EARLY", "FIRST", "LATER", "SECOND", "SERVER"]
    first = found["FIRST"]
    assert (first.begin_ts, first.end_ts) == (BEGIN + 300 * SECOND, BEGIN + 800 * SECOND)
    # of 100 s for reads a quarter is spent in the queue of the disks
    assert (first.cpu_s, first.disk_s, first.disk_queueing_s, first.faults_s, first.locks_s) == (250, 75, 25, 50, 100)
    assert (first.elapsed_s, first.explained_s, first.disk_waits) == (500, 500, 200)
    second = found["SECOND"]
    assert (second.begin_ts, second.end_ts) == (BEGIN + 830 * SECOND, BEGIN + 870 * SECOND)
    assert (second.follows, found["LATER"].follows) == (first.job, None)
    assert (found["LATER"].ended, found["SERVER"].began, found["SERVER"].explained_s) == (False, False, None)
    answers = {row["job"]: row for row in run_stored(client, queries()["batch_night"], ["SYSA"])}
    places = {name.rpartition("/")[2]: (row["chain_place"], row["cut_off"]) for name, row in answers.items()}
    others = {"EARLY": (None, ""), "LATER": (None, "still running")}
    assert places == {"FIRST": (1, ""), "SECOND": (2, ""), **others}


def test_the_files_of_a_simulated_night_have_its_jobs_and_its_chain(tmp_path: Path) -> None:
    def answer(*words: str) -> str:
        done = run("whatif", "batch", "--on", str(tmp_path / "kept"), *words, COUNTERFLOW_HOME=str(tmp_path))
        assert done.returncode == 0, done.stderr
        return done.stdout

    [folder] = {str(path.parent) for _, path in simulate("batch-night", tmp_path / "files").files}
    run("look", folder, "--system", "NIGHTA", "--keep", str(tmp_path / "kept"), COUNTERFLOW_HOME=str(tmp_path))
    night = json.loads(answer("--json", "--cpu-speed", "1.5"))
    found = {row["job_name"]: row for row in (one["job"] for one in night["jobs"])}
    known = {one.job_name: one for one in measured(play(STEPS, MACHINE, "1/batch-night"), STEPS)}
    assert {*found} == {*known} - {"SERVER"}
    for name, row in found.items():
        truth = known[name]
        # an end is stated in whole seconds, and the disks' queue is that of all jobs together
        assert abs(datetime.fromisoformat(row["begin_ts"]) - truth.begin_ts) < SECOND, name
        assert timedelta(0) <= truth.end_ts - datetime.fromisoformat(row["end_ts"]) < SECOND, name
        for part in ("cpu_s", "cpu_queueing_s", "faults_s", "locks_s", "journal_s", "other_s", "disk_waits"):
            assert row[part] == pytest.approx(getattr(truth, part), abs=0.001), (name, part)
        disk_s = (truth.disk_s or 0) + (truth.disk_queueing_s or 0)
        assert row["disk_s"] + row["disk_queueing_s"] == pytest.approx(disk_s, abs=0.001), name
    chain = ["DAYCLOSE", "POSTING", "INTEREST", "STATEMNT"]
    assert [job.rpartition("/")[2] for job in night["chain"]] == chain
    assert "NIGHTA: 7 batch jobs, 1 more run throughout" in answer()
    assert "which a chain of 4 jobs decides" in answer()
    assert "min earlier" in answer("--job", "POSTING", "--as", "2")
    assert "belong together" in run("whatif", "batch", "--as", "2", COUNTERFLOW_HOME=str(tmp_path)).stderr
