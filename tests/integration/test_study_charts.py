"""Charts of logs, replication, workloads, runs and any counter, on rows whose pictures are plain to work out."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import pytest

from counterflow.base.clickhouse import ClickHouse
from counterflow.dashboards.definition import charts, variables
from counterflow.dashboards.macros import All, Range, expand
from counterflow.pipelines.landing.rollups import refresh
from counterflow.stack.settings import StackSettings
from tests.support import tables
from tests.support.tables import given

Row = dict[str, Any]

BEGIN = datetime(2026, 5, 4, 9, tzinfo=UTC)
LATER = BEGIN + timedelta(days=7)
SYSTEM = "O'NE\\<b>"


def of_a_run(run: str, begin: datetime, units: int) -> Iterator[tuple[str, Row]]:
    """Yield ten minutes with the label, and one before and one after without it; each does `units`."""
    for minute in range(12):
        ts = begin + timedelta(minutes=minute)
        label = {"run": run} if 1 <= minute <= 10 else {}
        done = {"unit_of_work": "accounts", "operation": "", "done_delta": units if label else 9999}
        yield "workload", given(ts=ts, workload="sbs", run_id=run, **done, **label)
        read = {"read_mb": 60, "written_mb": 30, "transfers_per_s": 100, "response_ms": 0.5}
        yield "disk_total", given(ts=ts, **read)


def others() -> Iterator[tuple[str, Row]]:
    first, second = (BEGIN + timedelta(minutes=minute) for minute in (1, 2))
    for ts, rate, threads, write_ms in ((first, 300, 10, 1), (second, 340, 30, 3)):
        waits = {"waiting_threads": threads, "active_threads": 256, "log_write_ms": write_ms, "waits_delta": 0}
        log = {"subsystem": "DBP1", "rate_mb_s": rate, "rate_basis": "written", "ceiling_mb_s": 350, "path": "zhpf"}
        yield "log_load", given(ts=ts, **log, **waits)
    parts = {"capture_ms": 300, "queue_ms": 500, "apply_ms": 100, "end_to_end_ms": 900, "transactions": 100}
    queue = {"component": "apply", "queue": "Q1"}
    yield "replication_lag", given(ts=first, **queue, **parts)
    parts = {"capture_ms": 100, "queue_ms": 100, "apply_ms": 100, "end_to_end_ms": 300, "transactions": 300}
    yield "replication_lag", given(ts=second, **queue, **parts)
    yield "replication_lag", given(ts=second + timedelta(minutes=1), **queue, idle=True, transactions=0)
    for ts, p99_ms in ((first, 5), (second, 9)):
        kind = {"workload": "ycsb", "run_id": "1", "unit_of_work": "operations", "operation": "READ"}
        yield "workload", given(ts=ts, **kind, done_delta=10, response_p99_ms=p99_ms)
    for ts, value in ((first, -4), (second, 10)):
        yield "counter", given(ts=ts, section="VM", instance="", counter="pgfault", value=value)
    site = {"section": "run", "item": "configured"}
    values = {"begin": BEGIN.isoformat(), "end": (BEGIN + timedelta(hours=1)).isoformat(), "warm_up_s": "300"}
    for name, text in values.items():
        yield "config", given(ts=BEGIN, **site, name=name, value=text)


insert = partial(tables.insert_each, system=SYSTEM, interval_s=60)


@pytest.fixture(scope="module")
def client(clickhouse: StackSettings) -> Iterator[ClickHouse]:
    with tables.empty_tables(clickhouse) as admin:
        for _ in range(2):  # what is sent again must not count twice
            insert(admin, (*of_a_run("without", BEGIN, 120), *of_a_run("with", LATER, 180), *others()))
        refresh(admin)
        yield admin


def drawn(client: ClickHouse, chart: str, bucket_s: int, **chosen: Any) -> list[Row]:
    values = {"system": (SYSTEM,), "instance": All(("",)), "baseline": "without", "scenario": "with", **chosen}
    shown = Range(BEGIN, BEGIN + timedelta(hours=1), bucket_s)
    return client.rows(expand(charts()[chart].query, shown, values))


def test_runs_lie_over_each_other_from_their_beginnings(client: ClickHouse) -> None:
    rows = drawn(client, "compare_throughput", 60)
    assert [(row["Baseline"], row["Scenario"]) for row in rows] == [(2, 3)] * 10
    assert [row["Minutes"] for row in rows] == [minute + 0.5 for minute in range(10)], "the middles of their minutes"


def test_figures_are_of_whole_runs_and_show_what_differs(client: ClickHouse) -> None:
    found = {row["Figure"]: row for row in drawn(client, "compare_figures", 60)}
    throughput = found["Throughput (accounts)"]
    assert (throughput["Baseline"], throughput["Scenario"], throughput["Difference"]) == (2, 3, 50)
    assert (found["Read"]["Baseline"], found["Disk response"]["Scenario"]) == (1, 0.5)
    [shown] = drawn(client, "run_throughput", 60)
    assert (shown["Value"], shown["Against"]) == (3, 2)
    assert drawn(client, "run_throughput", 60, scenario="nobody's") == []
    alone = {row["Figure"]: row for row in drawn(client, "compare_figures", 60, scenario="nobody's")}
    assert (alone["Read"]["Scenario"], alone["Read"]["Difference"]) == (None, None)


def test_the_newest_run_and_the_one_before_it_are_compared_first(client: ClickHouse) -> None:
    shown = Range(BEGIN, BEGIN + timedelta(hours=1))

    def listed(name: str, **chosen: str) -> list[str]:
        return [row["run"] for row in client.rows(expand(variables()[name].sql or "", shown, chosen))]

    assert listed("scenario") == ["with", "configured", "without"]
    assert listed("baseline", scenario="with") == ["configured", "without", "with"]
    assert listed("baseline", scenario="configured") == ["without", "with", "configured"], "the run before it"


def test_a_run_of_the_site_file_begins_behind_its_warm_up(client: ClickHouse) -> None:
    runs = {row["Run"]: row for row in drawn(client, "runs", 60)}
    assert (runs["configured"]["Defined by"], runs["configured"]["Begin"][11:19]) == ("site file", "09:05:00")
    assert (runs["with"]["Defined by"], runs["with"]["Begin"][:19]) == ("label", f"{LATER:%Y-%m-%d %H:%M:%S}")


def test_a_log_has_its_busiest_interval_and_its_ceiling(client: ClickHouse) -> None:
    log = f"{SYSTEM} / DBP1"
    [row] = drawn(client, "log_rate", 1800, log=log)
    assert (row["Log rate"], row["Busiest interval"], row["Ceiling"]) == (320, 340, 350)
    # 10 threads waited 1 ms each time, 30 threads 3 ms: as many waits
    [row] = drawn(client, "log_write", 1800, log=log)
    assert (row["A log write"], row["Slowest interval"]) == (2, 3)


def test_a_percentile_is_the_highest_and_no_mean(client: ClickHouse) -> None:
    [row] = drawn(client, "work_percentiles", 1800)
    assert (row["Value"], row["series"]) == (9, f"{SYSTEM} / ycsb / READ, 99 %")


@pytest.mark.parametrize("bucket_s", [1800, 3600])
def test_a_counter_is_the_same_from_either_rollup(client: ClickHouse, bucket_s: int) -> None:
    [row] = drawn(client, "any_counter", bucket_s, metric="counter.VM.pgfault")
    assert (row["series"], row["Value"]) == (SYSTEM, 3)
    [row] = drawn(client, "any_counter_table", bucket_s, metric="counter.VM.pgfault")
    assert (row["Values"], row["Mean"], row["Least"], row["Most"]) == (2, 3, -4, 10)


def test_two_runs_of_one_label_are_kept_apart(client: ClickHouse) -> None:
    """This test comes last, since it reuses the label of another run."""
    again = BEGIN + timedelta(days=14)
    insert(client, of_a_run("with", again, 240))
    earlier = f"with {LATER:%Y-%m-%d %H:%M}"
    runs = {row["Run"]: row["Begin"][:16] for row in drawn(client, "runs", 60)}
    assert (runs["with"], runs[earlier]) == (f"{again:%Y-%m-%d %H:%M}", f"{LATER:%Y-%m-%d %H:%M}")
    [throughput] = [
        row
        for row in drawn(client, "compare_figures", 60, baseline=earlier)
        if row["Figure"] == "Throughput (accounts)"
    ]
    assert (throughput["Baseline"], throughput["Scenario"]) == (3, 4)
    rows = drawn(client, "compare_throughput", 60, baseline="without", scenario=earlier)
    assert [(row["Baseline"], row["Scenario"]) for row in rows] == [(2, 3)] * 10
