"""`counterflow whatif batch`: parts by hand, chains, refusals, and nights whose end is known since they are played."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from counterflow.analysis.whatif.batch import PARTS, BatchJob, BatchNight, Levers, nights
from counterflow.simulate import START
from counterflow.simulate.cases import batch_night
from counterflow.simulate.night import BatchMachine, Step, play
from tests.support.nights import measured

PAGE = Path(__file__).parents[2] / "docs/studies/batch.md"
PART_S = dict(zip(PARTS, (120, 60, 80, 40, 20, 30, 10, 240), strict=True))
ROW = {
    "system": "P1",
    "job": "A",
    "job_name": "A",
    "begin_ts": "2026-03-02T01:00:00Z",
    "end_ts": "2026-03-02T01:10:00Z",
    "elapsed_s": 600,
    "explained_s": 600,
    "disk_waits": 70_000,
    **PART_S,
}
"""600 s from 01:00; 70,000 waits for disks of 2 ms are 140 s."""
NEXT = {**ROW, "job": "B", "job_name": "B", "begin_ts": "2026-03-02T01:10:05Z", "end_ts": "2026-03-02T01:20:05Z"}
BESIDE = {**ROW, "job": "C", "job_name": "C", "begin_ts": "2026-03-02T01:09:00Z", "end_ts": "2026-03-02T01:19:00Z"}


def night_of(levers: Levers, *rows: dict[str, Any]) -> BatchNight:
    [night] = nights((BatchJob.model_validate(row) for row in rows), levers)
    return night


def at(minute: int, second: int = 0) -> datetime:
    return datetime(2026, 3, 2, 1, minute, second, tzinfo=UTC)


@pytest.mark.parametrize(
    ("levers", "parts"),
    [
        (Levers(cpu_speed=1.5), {"cpu_s": 80, "cpu_queueing_s": 40}),
        # 70,000 waits of 0.5 ms are 35 s, a quarter of 140 s
        (Levers(disk_ms=0.5), {"disk_s": 20, "disk_queueing_s": 10, "faults_s": 5}),
        (Levers(job_name="A", split=2), {"cpu_s": 60, "disk_s": 40, "faults_s": 10, "journal_s": 5}),
        (Levers(job_name="B", split=2), {}),
        (
            Levers(2, 1, "A", 4),
            {"cpu_s": 15, "cpu_queueing_s": 30, "disk_s": 10, "disk_queueing_s": 20, "faults_s": 2.5, "journal_s": 2.5},
        ),
    ],
)
def test_the_parts_of_a_job_by_hand(levers: Levers, parts: dict[str, float]) -> None:
    [job] = night_of(levers, ROW).jobs
    expected = {**PART_S, **parts}
    assert job.parts == pytest.approx(expected)
    assert job.elapsed_s == pytest.approx(sum(expected.values()))


def test_what_follows_begins_earlier_and_another_chain_may_decide() -> None:
    """A split of A saves half of 120 + 80 + 20 + 10 s; C, which follows nothing, then ends last."""
    night = night_of(Levers(job_name="A", split=2), ROW, {**NEXT, "follows": "A"}, BESIDE)
    assert (night.chain, night.end_ts) == (("A", "B"), at(20, 5))
    assert {one.job.job: one.end_ts for one in night.jobs} == {"A": at(8, 5), "B": at(18, 10), "C": at(19)}
    assert (night.chain_after, night.end_after_ts) == (("C",), at(19))


@pytest.mark.parametrize(
    ("row", "levers", "reason"),
    [
        (dict.fromkeys([*PARTS, "explained_s"]), Levers(2), "no wait buckets of its first thread"),
        ({"explained_s": 400}, Levers(2), "its wait buckets hold 400 of 600 s"),
        ({"disk_waits": None}, Levers(disk_ms=1), "the number of its waits for disks is unknown"),
    ],
)
def test_a_night_that_an_unknown_job_decides_has_no_predicted_end(
    row: dict[str, Any], levers: Levers, reason: str
) -> None:
    night = night_of(levers, {**ROW, **row})
    assert (night.end_ts, night.end_after_ts, night.jobs[0].elapsed_s) == (at(10), None, None)
    assert reason in (night.reason or "")
    # beside the chain, it keeps its measured time, and the answer counts it
    beside = night_of(levers, {**ROW, **row, "end_ts": at(1)}, NEXT)
    assert beside.end_after_ts is not None
    assert beside.notes == ("1 jobs have parts that are unknown, and keep their measured time",)


def test_jobs_that_the_period_cuts_are_in_no_chain_and_servers_are_left_out() -> None:
    server = {**NEXT, "job": "S", "began": False, "ended": False}
    night = night_of(Levers(), ROW, {**NEXT, "ended": False}, server)
    assert (night.chain, night.servers, len(night.jobs)) == (("A",), 1, 2)
    assert "1 jobs began before the period or ended after it" in night.notes[0]
    assert night_of(Levers(), server).reason == "no job began and ended in the period"


def test_where_the_queue_of_disks_is_not_known_the_rest_contains_it() -> None:
    night = night_of(Levers(disk_ms=0.5), {**ROW, "disk_queueing_s": None, "disk_s": 120})
    assert night.jobs[0].parts["disk_s"] == 30
    assert "disk_queueing_s" not in night.jobs[0].parts
    assert "disk_s contains it" in night.notes[0]
    assert "no job is named Z" in night_of(Levers(job_name="Z", split=2), ROW).notes[0]


# simulated nights

STEPS = batch_night.STEPS[1:]
"""Without the server."""
MACHINES = {"one processor, one disk": batch_night.MACHINE, "room for all": BatchMachine(processors=16, disks=16)}
"""Machines of the night before the change: on the second no queue arises."""
LEVERS = {
    "processors 1.5 times as fast": Levers(cpu_speed=1.5),
    "disks at 0.5 ms": Levers(disk_ms=0.5),
    "POSTING as two": Levers(job_name="POSTING", split=2),
    "all three": Levers(1.5, 0.5, "POSTING", 2),
}


def test_a_night_without_levers_is_the_one_that_was_measured() -> None:
    jobs = play(STEPS, batch_night.MACHINE, "itself")
    [night] = nights(measured(jobs, STEPS), Levers())
    assert {one.job.job_name: one.elapsed_s for one in night.jobs} == {
        job.name: pytest.approx(job.end_s - job.begin_s) for job in jobs
    }
    assert night.end_after_ts == night.end_ts
    names = {one.job.job: one.job.job_name for one in night.jobs}
    assert [names[job] for job in night.chain] == ["DAYCLOSE", "POSTING", "INTEREST", "STATEMNT"]


def test_a_simulated_night_by_hand() -> None:
    """Two jobs share one processor, and begin together: the second waits for the first."""
    steps = (Step("ONE", 1, 10, 100), Step("TWO", 1, 10, 0, idle_s=5), Step("THREE", 2, 1, 50, after="ONE", at_s=3))
    one, two, three = play(steps, BatchMachine(operation_ms=20), "hand")
    cpu_s = one.spent_s(1)
    assert 5 <= cpu_s <= 15
    assert (one.begin_s, one.end_s) == (0, pytest.approx(cpu_s + 2))
    assert two.spent_s(2) == pytest.approx(cpu_s)
    assert two.end_s == pytest.approx(cpu_s + two.spent_s(1) + 5)
    assert three.begin_s == pytest.approx(one.end_s + 3)
    assert three.spent_s(6) == pytest.approx(2)
    assert all(
        sum(spell.end_s - spell.begin_s for spell in job.spells) == pytest.approx(job.end_s - job.begin_s)
        for job in (one, two, three)
    )


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("lever", LEVERS)
def test_the_page_states_the_errors_on_played_nights(machine: str, lever: str) -> None:
    """Where no queue arises the model is exact, but for locks, which the jobs of a split share when they are played."""
    levers, before = LEVERS[lever], MACHINES[machine]
    jobs = play(STEPS, before, "backtest")
    [night] = nights(measured(jobs, STEPS), levers)
    steps = [step._replace(jobs=levers.split) if step.name == levers.job_name else step for step in STEPS]
    better = before._replace(speed=levers.cpu_speed, operation_ms=levers.disk_ms or before.operation_ms)
    assert night.end_after_ts is not None
    begin_s = min(job.begin_s for job in jobs)
    played_s = max(job.end_s for job in play(steps, better, "backtest")) - begin_s
    predicted_s = (night.end_after_ts - START).total_seconds() - begin_s
    error_pct = 100 * (predicted_s / played_s - 1)
    if machine == "room for all" and levers.split == 1:
        assert error_pct == pytest.approx(0, abs=0.001)
    measured_s = max(job.end_s for job in jobs) - begin_s
    figures = " | ".join(f"{seconds / 60:.1f}" for seconds in (measured_s, predicted_s, played_s))
    error = f"{round(error_pct, 1) + 0.0:+.1f}".replace("-", "\N{MINUS SIGN}")
    assert f"| {machine} | {lever} | {figures} | {error} |" in PAGE.read_text(encoding="utf-8")
