"""What a rerun asks of Flink: which rows its jobs read, in which order they run, and which results they write."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar, cast

import pytest

from counterflow.base.errors import CounterflowError
from counterflow.pipelines.jobs.cluster import run_in_turn
from counterflow.pipelines.jobs.definition import Job, all_jobs, chosen, stages
from counterflow.pipelines.jobs.plan import Plan
from counterflow.pipelines.jobs.render import Period, render
from counterflow.schemas.definition import datasets

BEGIN, END = datetime(2026, 5, 4, 10, tzinfo=UTC), datetime(2026, 5, 4, 11, tzinfo=UTC)
BEGIN_MS, END_MS = 1_777_888_800_000, 1_777_892_400_000
HOUR_MS = 3_600_000
RERUN = [job for job in all_jobs().values() if job.rule is None]
ENDS = re.compile(r"EXTRACT\(EPOCH FROM ts\) \* 1000 \+ EXTRACT\(MILLISECOND FROM ts\) (>=|<) (\d+)")


def rendered(job: Job, system: str | None = None) -> dict[str, Any]:
    files: dict[str, Any] = {"checkpoints": "file:///c", "rules": Path("rules.zip")}
    return render(job, datasets(), bootstrap="b", connection={}, period=Period(BEGIN, END, system), **files)


def bounds(sql: str) -> dict[str, int]:
    return {sign: int(number) for sign, number in ENDS.findall(sql)}


def view(request: dict[str, Any], name: str) -> str:
    [found] = [s for s in request["statements"] if s.startswith(f"CREATE TEMPORARY VIEW `{name}` ")]
    return str(found)


@pytest.mark.parametrize("job", RERUN, ids=lambda job: job.name)
def test_each_result_is_of_the_period_and_system(job: Job) -> None:
    for insert in rendered(job, "A")["inserts"]:
        where = insert.rpartition("WHERE ")[2]
        assert bounds(where) == {">=": BEGIN_MS, "<": END_MS}
        assert where.endswith("`system` || '' = 'A'")


def test_rows_are_read_that_the_intervals_of_the_period_meet() -> None:
    [log_load, link_load, account_cpu] = chosen(["log_load", "link_load", "account_cpu"])
    processors = bounds(view(rendered(log_load), "system_cpu"))
    assert processors[">="] <= BEGIN_MS - 24 * HOUR_MS
    assert processors["<"] >= END_MS + 24 * HOUR_MS
    assert bounds(view(rendered(log_load), "db_log"))[">="] <= BEGIN_MS - HOUR_MS, "the path was reported before"
    ports = view(rendered(link_load, "A"), "link")
    assert bounds(ports)["<"] >= END_MS + HOUR_MS // 12
    assert "`system` = " not in ports, "other systems share the port"
    assert bounds(view(rendered(account_cpu), "workload")) == {">=": BEGIN_MS, "<": END_MS}


def test_settings_are_read_whenever_they_were_stated() -> None:
    [link_wire] = chosen(["link_wire"])
    assert bounds(view(rendered(link_wire), "config")) == {}


def test_a_job_follows_those_whose_results_it_reads() -> None:
    order = [sorted(job.name for job in stage) for stage in stages(chosen(["link_load", "io_mix", "link_wire"]))]
    assert order == [["io_mix", "link_wire"], ["link_load"]]
    assert [[job.name for job in stage] for stage in stages(chosen(["link_load"]))] == [["link_load"]]


class FewSlots:
    """A Flink that fails a job for which it has no slot, as one whose TaskManagers have all registered does."""

    def __init__(self, slots: int) -> None:
        self.slots, self.busy, self.most = slots, set[str](), 0
        self.ended: dict[str, str] = {}

    def free_slots(self) -> int:
        return self.slots

    def submit(self, graph: bytes, _files: Any) -> None:
        job_id = graph.decode()
        self.ended[job_id] = "FINISHED" if len(self.busy) < self.slots else "FAILED"
        self.busy.add(job_id)
        self.most = max(self.most, len(self.busy))

    def initialized(self, _job_id: str) -> None:
        return None

    def wait(self, job_id: str) -> str:
        self.busy.discard(job_id)
        return self.ended[job_id]

    def problem(self, _job_id: str) -> str:
        return "Could not acquire the minimum required resources."


class Planned:
    files: ClassVar[dict[str, Path]] = {}

    def graph(self, job_id: str, _checkpoint: None) -> bytes:
        return job_id.encode()


@pytest.mark.parametrize("slots", [1, 3, 16])
def test_no_more_jobs_run_at_a_time_than_slots_are_free(slots: int) -> None:
    flink: Any = FewSlots(slots)
    run_in_turn(flink, ((job.name, cast(Plan, Planned())) for job in RERUN), "http://localhost")
    assert len(flink.ended) == len(RERUN)
    assert flink.most == min(slots, len(RERUN))
    assert not flink.busy


def test_a_job_that_does_not_finish_is_reported_with_its_cause() -> None:
    with pytest.raises(CounterflowError, match=r"io_mix ended as FAILED: Could not acquire") as raised:
        run_in_turn(cast(Any, FewSlots(0)), [("io_mix", cast(Plan, Planned()))], "http://localhost")
    assert str(raised.value.hint).startswith("http://localhost/#/job/")
