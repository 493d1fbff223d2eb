"""The jobs on real Kafka and Flink, every result compared with a recomputation in plain Python.

The input is what makes windows lose rows: a live system, one three days late, one a day ahead, a file delivered twice,
all shuffled in one topic.
"""

from __future__ import annotations

import multiprocessing
import os
import random
import signal
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import psutil
import pytest

from counterflow.base.errors import CounterflowError
from counterflow.pipelines import jobs
from counterflow.stack import lifecycle, supervision
from counterflow.stack.flink import client as opened
from counterflow.stack.settings import StackSettings
from tests.support.agents import until
from tests.support.flink_line import Line, Record, Results, first_of_each, known, over, total

INTERVAL_S = 15.0
NOW = datetime(2026, 5, 4, 12, tzinfo=UTC)
INTERVALS = 24
JOBS = ("disk_load", "footprint")


# The recomputation. It shares nothing with the SQL but the wording of the definitions.


def transfers(row: Record) -> float | None:
    if row.get("transfers") is not None:
        return float(row["transfers"])
    return None if None in (row.get("reads"), row.get("writes")) else float(row["reads"] + row["writes"])


def response(row: Record) -> float | None:
    if transfers(row) == 0:
        return None
    if row.get("service_ms") is not None:
        return None if row.get("wait_ms") is None else float(row["service_ms"] + row["wait_ms"])
    sides = [(row.get("reads"), row.get("read_service_ms")), (row.get("writes"), row.get("write_service_ms"))]
    if all(count == 0 or None not in (count, each) for count, each in sides) and any(count for count, _ in sides):
        return float(sum(count * each for count, each in sides if count) / sum(count for count, _ in sides))
    return over(row.get("backlog_ms"), transfers(row))


def load(rows: Sequence[Record], *, alone: bool, **fields: Any) -> Record:
    """Return the figures of one disk, or of several together."""
    seconds = max(known([row.get("interval_s") for row in rows]), default=None)
    leaves = rows if alone else [row for row in rows if row["leaf"]]
    both = [row for row in leaves if None not in (row.get("read_kb"), row.get("written_kb"))]
    sized = [row for row in both if transfers(row) is not None]
    timed = [row for row in leaves if None not in (response(row), transfers(row))]
    read, written = (total([row.get(name) for row in leaves]) for name in ("read_kb", "written_kb"))
    return {
        **fields,
        "interval_s": seconds,
        "transfers_per_s": over(total([transfers(row) for row in leaves]), seconds),
        "reads_per_s": over(total([row.get("reads") for row in leaves]), seconds),
        "writes_per_s": over(total([row.get("writes") for row in leaves]), seconds),
        "read_mb": over(read, 1024),
        "written_mb": over(written, 1024),
        "rw_ratio": over(total([row["read_kb"] for row in both]), total([row["written_kb"] for row in both])),
        "kb_per_transfer": over(
            total([row["read_kb"] + row["written_kb"] for row in sized]), total([transfers(row) for row in sized])
        ),
        "response_ms": response(rows[0])
        if alone
        else over(
            total([(response(row) or 0) * (transfers(row) or 0) for row in timed]),
            total([transfers(row) for row in timed]),
        ),
        "busy_pct": max(known([row.get("busy_pct") for row in leaves]), default=None),
    }


def disk_total(published: Sequence[Record]) -> dict[tuple[str, ...], Record]:
    intervals = defaultdict(list)
    for row in first_of_each(published, "system", "disk", "ts"):
        intervals[row["system"], row["ts"]].append(row)
    return {
        (system, ts): load(rows, alone=False, system=system, ts=ts, n=len(rows))
        for (system, ts), rows in intervals.items()
    }


def disk_load(published: Sequence[Record]) -> dict[tuple[str, ...], Record]:
    """Return what the view over the tables has: a row a disk, and `*` for all leaf disks of a system."""
    totals = {
        (system, "*", ts): {**row, "disk": "*", "leaf": True} for (system, ts), row in disk_total(published).items()
    }
    disks = {}
    for row in first_of_each(published, "system", "disk", "ts"):
        key = {"system": row["system"], "disk": row["disk"], "ts": row["ts"]}
        disks[tuple(key.values())] = load([row], alone=True, **key, n=1, leaf=row["leaf"])
    return {**totals, **disks}


def footprint(published: Sequence[Record]) -> dict[tuple[str, ...], Record]:
    groups = defaultdict(list)
    for row in first_of_each(published, "system", "job", "ts"):
        groups[row["system"], row["command"], row["ts"]].append(row)
    results = {}
    for (system, command, ts), rows in groups.items():
        cpu_ms = total([row.get("cpu_ms") for row in rows])
        if any(row.get("resident_kb") is not None for row in rows):
            kb = total([row["resident_kb"] - row["shared_kb"] for row in rows])
        else:
            data, text = ([row.get(f"resident_{part}_kb") for row in rows] for part in ("data", "text"))
            kb = None if None in (total(data), total(text)) else sum(known(data)) + max(known(text))
        results[system, command, ts] = {
            "system": system,
            "command": command,
            "ts": ts,
            "n": len(rows),
            "interval_s": INTERVAL_S,
            "cpu_ms": cpu_ms,
            "cpu_cores": over(cpu_ms, 1000 * INTERVAL_S),
            "cpu_base": max((row["cpu_base"] for row in rows if row.get("cpu_base")), default=None),
            "memory_mb": over(kb, 1024),
            "threads": total([row.get("threads") for row in rows]),
        }
    return results


def recompute(published: Mapping[str, Sequence[Record]]) -> Results:
    return {"disk_total": disk_total(published["disk"]), "footprint": footprint(published["job"])}


# The input.


def recording(system: str, begin: datetime, seed: int, intervals: int = INTERVALS) -> list[tuple[str, Record]]:
    """Return rows of a system as the agent publishes them; what an AIX or a Linux system does not report is null."""
    chance = random.Random(seed)
    aix = seed % 2 == 0
    rows: list[tuple[str, Record]] = []
    for number in range(1, intervals + 1):
        ts = f"{begin + number * timedelta(seconds=INTERVAL_S):%FT%TZ}"
        envelope = {"ts": ts, "interval_s": INTERVAL_S, "system": system, "source": "nmon", "agent_id": "test"}
        for disk in range(6):
            reads, writes = (
                chance.choice([0.0, 0.0, chance.uniform(0, 900)]),
                chance.choice([0.0, chance.uniform(0, 900)]),
            )
            figures: Record = {
                "busy_pct": chance.uniform(0, 100),
                "read_kb": reads * 8,
                "written_kb": writes * chance.uniform(4, 64),
            }
            if aix:  # counts of transfers, service and wait apart; the split by direction is not always recorded
                figures |= {"transfers": reads + writes, "service_ms": chance.uniform(0, 20)}
                figures |= {"wait_ms": chance.choice([None, chance.uniform(0, 5)])}
            else:  # reads and writes, each with its time; some devices have the backlog alone
                timed = chance.random() < 0.7
                figures |= {"reads": reads, "writes": writes, "backlog_ms": chance.uniform(0, 1000)}
                figures |= {"read_service_ms": chance.uniform(0, 9) if timed and reads else None}
                figures |= {"write_service_ms": chance.uniform(0, 9) if timed and writes else None}
            if chance.random() < 0.1:  # a damaged field
                figures[chance.choice(list(figures))] = None
            leaf = disk < 4
            rows.append(("disk", {**envelope, "disk": f"disk{disk}", "device_type": "disk", "leaf": leaf, **figures}))
        for pid in chance.sample(range(100, 120), 8):
            process: Record = {"job": str(pid), "command": f"cmd{pid % 4}", "threads": float(chance.randint(1, 9))}
            if chance.random() < 0.9:
                process |= {"cpu_ms": chance.uniform(0, 15000), "cpu_base": "physical" if aix else "logical"}
            process |= {name: chance.uniform(0, 1e6) for name in ("resident_data_kb", "resident_text_kb")}
            if not aix:
                process |= {"resident_kb": chance.uniform(1e5, 1e6), "shared_kb": chance.uniform(0, 1e5)}
            rows.append(("job", {**envelope, **process}))
    for seq, (_, record) in enumerate(rows):
        record |= {"seq": seq, "collected_at": f"{NOW:%FT%TZ}"}
    return rows


def everything() -> list[tuple[str, Record]]:
    """Return a live system, one three days late, one a day ahead, a file delivered twice: shuffled."""
    twice = recording("twice", NOW - timedelta(hours=2), seed=3)
    again = [(dataset, {**record, "seq": record["seq"] + 10_000}) for dataset, record in twice]
    rows = [
        *recording("live", NOW, seed=1),
        *recording("late", NOW - timedelta(days=3), seed=2),
        *recording("ahead", NOW + timedelta(days=1), seed=4),
        *twice,
        *again,
    ]
    random.Random(5).shuffle(rows)
    return rows


def halves(rows: Sequence[tuple[str, Record]]) -> tuple[list[tuple[str, Record]], list[tuple[str, Record]]]:
    """Split so that nearly every interval has rows in both."""
    return [*rows[::2]], [*rows[1::2]]


@pytest.fixture(scope="module", params=[1, 2, 4], ids=lambda number: f"{number} partitions and subtasks")
def line(request: pytest.FixtureRequest, flink: StackSettings) -> Iterator[Line]:
    line = Line(flink, 10 + request.param, recompute, JOBS, parallelism=request.param)
    assert [found.what for found in line.submit()] == ["started", "started"]
    yield line
    jobs.cancel(line.cluster, line.jobs)  # its slots


def test_every_result_is_exact_whatever_the_order(line: Line) -> None:
    rows = everything()
    for begin in range(0, len(rows), 400):
        line.publish(rows[begin : begin + 400])
        time.sleep(0.4)  # in all, longer than a mini-batch
    line.publish(recording("aborted", NOW, seed=6), commit=False)
    line.check()


def test_a_row_counts_once_in_whatever_frames_it_comes(line: Line) -> None:
    rows = recording("cut", NOW, seed=12, intervals=9)
    disks = [record for dataset, record in rows if dataset == "disk"]
    intervals = [disks[at : at + 6] for at in range(0, len(disks), 6)]
    for number, interval in enumerate(intervals):
        whole, begin, middle, end = interval, interval[:4], interval[2:5], interval[3:]
        cuts = ([whole, whole], [begin, end], [whole, middle], [middle, whole], [begin, middle, end])[number % 5]
        for frame in cuts:
            line.publish([("disk", record) for record in frame])
    envelope = {
        name: rows[0][1][name] for name in ("interval_s", "system", "source", "agent_id", "seq", "collected_at")
    }
    envelope |= {"ts": f"{NOW + timedelta(hours=1):%FT%TZ}", "system": "malformed"}
    two = {"frame_rows": 2, "disk": ["a", "b"], "leaf": [True, True], "reads": [1.0, 2.0]}
    wrong = [{"disk": ["a", "a"]}, {"disk": ["a"]}, {"disk": "a"}, {"disk": None}, {"reads": [1.0]}, {"frame_rows": 3}]
    line.publish_malformed("disk", [{**envelope, **two, **one} for one in wrong])
    line.check()


def test_a_running_job_is_left_alone_and_a_cancelled_one_continues(line: Line) -> None:
    assert [found.what for found in line.submit()] == ["running", "running"]
    before, after = halves(recording("resumed", NOW, seed=7))
    line.publish(before)
    line.arrived()
    assert sorted(jobs.cancel(line.cluster, line.jobs)) == sorted(job.name for job in line.jobs)
    assert {status.state for status in jobs.listing(line.cluster, line.jobs)} == {"NOT SUBMITTED"}
    line.publish(after)
    for found in line.submit():
        assert found.what == "resumed"
        assert found.checkpoint
    line.check()


def test_a_killed_process_costs_no_row(flink: StackSettings, line: Line) -> None:
    part = {1: "jobmanager", 2: "taskmanager", 4: "taskmanager"}[line.jobs[0].parallelism]
    before, after = halves(recording("killed", NOW, seed=8))
    line.publish(before)
    line.arrived()
    os.kill(supervision.states(flink)[part].pid, signal.SIGKILL)
    line.publish(after)
    lifecycle.start(flink, "jobmanager", "taskmanager")
    expected = {"jobmanager": "resumed", "taskmanager": "running"}  # a JobManager that was restarted has no jobs
    assert {found.what for found in line.submit()} == {expected[part]}
    line.check()


def tasks(flink: StackSettings, line: Line) -> set[int]:
    """Return how many tasks each of the line's jobs has."""
    names = {job.name for job in line.jobs}
    with opened(flink) as http:
        found = http.get("/jobs/overview").raise_for_status().json()["jobs"]
    return {job["tasks"]["total"] for job in found if job["name"] in names and job["state"] == "RUNNING"}


def test_a_job_keeps_its_state_at_another_parallelism(flink: StackSettings, line: Line) -> None:
    own = line.jobs[0].parallelism
    before, after = halves(recording("rescaled", NOW, seed=9))
    line.publish(before)
    line.arrived()
    for parallelism in (3 - min(own, 2), own):
        jobs.cancel(line.cluster, line.jobs)
        changed = [job.model_copy(update={"parallelism": parallelism}) for job in line.jobs]
        assert {found.what for found in line.submit(changed)} == {"resumed"}
        assert tasks(flink, line) == {3 * parallelism}
    line.publish(after)
    line.check()


@pytest.mark.parametrize("line", [1], indirect=True)
def test_another_query_starts_from_the_beginning(line: Line) -> None:
    before = line.results()["footprint"]
    changed = [
        job.model_copy(update={"query": job.query.replace("SUM(threads)", "SUM(threads) + 0")}) for job in line.jobs
    ]
    assert sorted(found.what for found in line.submit(changed)) == ["running", "started"]
    end = time.monotonic() + 60
    while not all(len(rows) > len(before[key]) for key, rows in line.results()["footprint"].items()):
        assert time.monotonic() < end, "not every result was written again"
        time.sleep(0.5)
    line.check()


def test_what_flink_refuses_is_reported_in_one_sentence(flink: StackSettings) -> None:
    line = Line(flink, 40, recompute, JOBS)
    wrong = line.jobs[0].model_copy(
        update={"query": line.jobs[0].query.replace("SUM(read_kb)", "SUM(no_such_column)", 1)}
    )
    with pytest.raises(Exception, match=r"Flink rejected disk_load 40: .*no_such_column"):
        line.submit([wrong])
    with pytest.raises(Exception, match=r"Flink rejected disk_load 40: .*no_such_column"):
        jobs.watch(line.cluster, print, jobs=[wrong])


def clients() -> list[psutil.Process]:
    return [child for child in psutil.Process().children(recursive=True) if "driver.py" in " ".join(child.cmdline())]


def test_a_watched_job_comes_back_and_the_client_ends(flink: StackSettings) -> None:
    line = Line(flink, 45, recompute, JOBS[:1])
    taken: list[jobs.Submission] = []

    def on_submission(found: jobs.Submission | CounterflowError) -> None:
        if isinstance(found, jobs.Submission):
            taken.append(found)
            assert clients() == []
            jobs.cancel(line.cluster, line.jobs)
            if len(taken) == 2:
                raise InterruptedError

    with pytest.raises(InterruptedError):
        jobs.watch(line.cluster, on_submission, jobs=line.jobs, every_s=0.1)
    assert len({found.job_id for found in taken}) == 2


def test_a_process_that_is_killed_while_it_submits_starts_no_job_twice(flink: StackSettings) -> None:
    line = Line(flink, 46, recompute, JOBS)
    killed = multiprocessing.get_context("fork").Process(target=line.submit)
    killed.start()
    until(lambda: "driver.py" in " ".join(word for c in clients() for word in c.cmdline()))
    [client, *_] = clients()
    killed.kill()
    killed.join()
    assert client.is_running(), "the client outlives it, and keeps the lock"
    submitted = line.submit()
    assert not client.is_running(), "the lock was waited for"
    names = {job.name for job in line.jobs}
    with opened(flink) as http:
        overview = http.get("/jobs/overview").raise_for_status().json()["jobs"]
    running = [job["jid"] for job in overview if job["name"] in names and job["state"] in ("CREATED", "RUNNING")]
    assert sorted(running) == sorted(found.job_id for found in submitted)
    assert [found.what for found in line.submit()] == ["running", "running"]
    jobs.cancel(line.cluster, line.jobs)
