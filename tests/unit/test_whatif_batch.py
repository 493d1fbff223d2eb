"""`counterflow whatif batch`: parts by hand, chains, refusals, and nights whose end is known since they are played."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest
from click.testing import CliRunner

from counterflow.analysis.whatif import batch_backtest
from counterflow.analysis.whatif.batch import PARTS, Levers, nights
from counterflow.base.errors import CounterflowError
from counterflow.cli import cli
from counterflow.simulate.night import BatchMachine, Step, play

PAGE = Path(__file__).parents[2] / "docs/studies/batch.md"
PART_S = {
    "cpu_s": 120,
    "cpu_queueing_s": 60,
    "disk_s": 80,
    "disk_queueing_s": 40,
    "faults_s": 20,
    "locks_s": 30,
    "journal_s": 10,
    "other_s": 240,
}
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


def asked(tmp_path: Path, *options: str, rows: list[dict[str, Any]]) -> str:
    file = tmp_path / "night.jsonl"
    file.write_bytes(b"\n".join(orjson.dumps(row) for row in rows))
    answer = CliRunner().invoke(cli, ["whatif", "batch", "--input", str(file), *options], catch_exceptions=False)
    assert answer.exit_code == 0, answer.output
    return answer.stdout


def night_of(tmp_path: Path, *options: str, rows: list[dict[str, Any]]) -> dict[str, Any]:
    [line] = asked(tmp_path, *options, "--json", rows=rows).splitlines()
    night: dict[str, Any] = orjson.loads(line)
    return night


@pytest.mark.parametrize(
    ("options", "parts"),
    [
        (["--cpu-speed", "1.5"], {"cpu_s": 80, "cpu_queueing_s": 40}),
        # 70,000 waits of 0.5 ms are 35 s, a quarter of 140 s
        (["--disk-ms", "0.5"], {"disk_s": 20, "disk_queueing_s": 10, "faults_s": 5}),
        (["--job", "A", "--as", "2"], {"cpu_s": 60, "disk_s": 40, "faults_s": 10, "journal_s": 5}),
        (["--job", "B", "--as", "2"], {}),
        (
            ["--cpu-speed", "2", "--disk-ms", "1", "--job", "A", "--as", "4"],
            {"cpu_s": 15, "cpu_queueing_s": 30, "disk_s": 10, "disk_queueing_s": 20, "faults_s": 2.5, "journal_s": 2.5},
        ),
    ],
)
def test_the_parts_of_a_job_by_hand(tmp_path: Path, options: list[str], parts: dict[str, float]) -> None:
    [job] = night_of(tmp_path, *options, rows=[ROW])["jobs"]
    expected = {**PART_S, **parts}
    assert job["parts"] == pytest.approx(expected)
    assert job["elapsed_s"] == pytest.approx(sum(expected.values()))


def test_what_follows_begins_earlier_and_another_chain_may_decide(tmp_path: Path) -> None:
    """A split of A saves half of 120 + 80 + 20 + 10 s; C, which follows nothing, then ends last."""
    rows = [ROW, {**NEXT, "follows": "A"}, BESIDE]
    before = night_of(tmp_path, rows=rows)
    assert (before["chain"], before["end_ts"]) == (["A", "B"], "2026-03-02T01:20:05+00:00")
    after = night_of(tmp_path, "--job", "A", "--as", "2", rows=rows)
    ends = {one["job"]["job"]: one["end_ts"][11:19] for one in after["jobs"]}
    assert ends == {"A": "01:08:05", "B": "01:18:10", "C": "01:19:00"}
    assert (after["chain"], after["chain_after"]) == (["A", "B"], ["C"])
    assert after["end_after_ts"][11:19] == "01:19:00"


@pytest.mark.parametrize(
    ("row", "options", "reason"),
    [
        (dict.fromkeys([*PARTS, "explained_s"]), [], "no wait buckets of its first thread"),
        ({"explained_s": 400}, [], "its wait buckets hold 400 of 600 s"),
        ({"disk_waits": None}, ["--disk-ms", "1"], "the number of its waits for disks is unknown"),
    ],
)
def test_a_night_that_an_unknown_job_decides_has_no_predicted_end(
    tmp_path: Path, row: dict[str, Any], options: list[str], reason: str
) -> None:
    options = options or ["--cpu-speed", "2"]
    night = night_of(tmp_path, *options, rows=[{**ROW, **row}])
    assert night["end_after_ts"] is None
    assert night["jobs"][0]["elapsed_s"] is None
    assert reason in night["reason"]
    assert f"unknown, because A: {reason}" in asked(tmp_path, *options, rows=[{**ROW, **row}])
    # beside the chain, it keeps its measured time, and the answer counts it
    beside = night_of(tmp_path, *options, rows=[{**ROW, **row, "end_ts": "2026-03-02T01:01:00Z"}, NEXT])
    assert beside["end_after_ts"] is not None
    assert beside["notes"] == ["1 jobs have parts that are unknown, and keep their measured time"]


def test_jobs_that_the_period_cuts_are_in_no_chain_and_servers_are_left_out(tmp_path: Path) -> None:
    server = {**NEXT, "job": "S", "began": False, "ended": False}
    night = night_of(tmp_path, rows=[ROW, {**NEXT, "ended": False}, server])
    assert (night["chain"], night["servers"], len(night["jobs"])) == (["A"], 1, 2)
    assert "1 jobs began before the period or ended after it" in night["notes"][0]
    nothing = asked(tmp_path, rows=[server])
    assert "end of the night: unknown, because no job began and ended in the period" in nothing


def test_where_the_queue_of_disks_is_not_known_the_rest_contains_it(tmp_path: Path) -> None:
    row = {**ROW, "disk_queueing_s": None, "disk_s": 120}
    night = night_of(tmp_path, "--disk-ms", "0.5", rows=[row])
    assert night["jobs"][0]["parts"]["disk_s"] == 30
    assert "disk_queueing_s" not in night["jobs"][0]["parts"]
    assert "disk_s contains it" in night["notes"][0]


def test_mistakes_end_the_command(tmp_path: Path) -> None:
    file = tmp_path / "none.jsonl"
    file.write_text("")
    run = CliRunner().invoke(cli, ["whatif", "batch", "--input", str(file), "--job", "A"])
    assert run.exit_code == 2
    assert "--job and --as belong together" in run.output
    with pytest.raises(CounterflowError, match="no batch job of IBM i"):
        CliRunner().invoke(cli, ["whatif", "batch", "--input", str(file)], catch_exceptions=False)
    with pytest.raises(CounterflowError, match=r"night.jsonl:1: elapsed_s"):
        asked(tmp_path, rows=[{**ROW, "elapsed_s": -1}])
    assert "no job is named Z" in asked(tmp_path, "--job", "Z", "--as", "2", rows=[ROW])


# simulated nights


def test_a_night_without_levers_is_the_one_that_was_measured() -> None:
    jobs = play(batch_backtest.STEPS, batch_backtest.NIGHT.machine, "itself")
    [night] = nights(batch_backtest.measured(jobs, batch_backtest.STEPS), Levers())
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


def test_the_page_states_the_errors_on_played_nights() -> None:
    """Where no queue arises the model is exact, but for locks, which the jobs of a split share when they are played."""
    errors = {(one.machine, one.levers): one for one in batch_backtest.errors()}
    for levers in ("processors 1.5 times as fast", "disks at 0.5 ms"):
        assert errors["room for all", levers].error_pct == pytest.approx(0, abs=0.001)
    page = PAGE.read_text(encoding="utf-8")
    for one in errors.values():
        figures = " | ".join(f"{seconds / 60:.1f}" for seconds in (one.measured_s, one.predicted_s, one.played_s))
        error = f"{round(one.error_pct, 1) + 0.0:+.1f}".replace("-", "\N{MINUS SIGN}")
        assert f"| {one.machine} | {one.levers} | {figures} | {error} |" in page
