"""Charts on awkward input: no rows, one point, nulls, names that are code, and far too many series."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import pytest

from counterflow.base.clickhouse import ClickHouse
from counterflow.dashboards.definition import Chart, boards, charts, variables
from counterflow.dashboards.frames import Result, fetch
from counterflow.dashboards.macros import All, Range, bucket_s, expand
from counterflow.dashboards.report.figures import points
from counterflow.pipelines.landing.rollups import refresh
from counterflow.stack.settings import StackSettings
from tests.support.shapes import problems
from tests.support.tables import empty_tables, insert

END = datetime(2026, 5, 4, 12, tzinfo=UTC)
NAMES = (
    'it\'s \\ "one" `other`',
    "'; DROP TABLE counterflow.verdict; --",
    "<script>alert(1)</script>${system:raw} $__timeFilter(ts)",
    "bell \x07, null \x00, turned \u202e, \ud7ff",
    "",
    "'; DROP TABLE counterflow.disk; --",
)


@pytest.fixture(scope="module")
def reader(clickhouse: StackSettings) -> Iterator[ClickHouse]:
    """The user of the boards, over tables where an odd system has one interval with hardly any figure."""
    with empty_tables(clickhouse) as admin:
        odd = partial(insert, admin, ts=END, system=NAMES[0])
        odd("system_cpu", {"engine_type": "core", "engine": "all"})
        odd("disk", {"disk": NAMES[1], "device_type": "disk", "leaf": True})
        odd("link_load", {"link": NAMES[2], "link_type": "nrg"})
        odd("log_load", {"subsystem": NAMES[2]})
        odd("manifest", {"counted": "disk", "row_count": 1})
        with clickhouse.clickhouse("reader") as client:
            yield client


def rows(client: ClickHouse, chart: Chart, end: datetime, *values: str) -> Result:
    """Return the rows of a chart over six hours; each variable that is no list is set to the values, or to the last."""
    shown = Range(end - timedelta(hours=6), end, bucket_s(end - timedelta(hours=6), end, least_s=chart.interval_s))
    chosen: dict[str, str | tuple[str, ...]] = {}
    for name in chart.variables:
        variable = variables()[name]
        chosen[name] = variable.values[0] if variable.values else values if variable.multi else values[-1]
    return fetch(client, expand(chart.query, shown, chosen))


@pytest.mark.parametrize("chart", charts().values(), ids=lambda chart: chart.name)
def test_a_name_is_data_whatever_it_is(reader: ClickHouse, chart: Chart) -> None:
    found = rows(reader, chart, END, *NAMES)
    assert list(problems(chart, found)) == []


@pytest.mark.parametrize("chart", charts().values(), ids=lambda chart: chart.name)
def test_a_time_without_rows_shows_nothing(reader: ClickHouse, chart: Chart) -> None:
    found = rows(reader, chart, END - timedelta(days=8), "a system that is gone")
    assert list(problems(chart, found)) == []
    assert points(chart, found) == 0 or chart.name == "interval"  # it lists the range itself


def test_a_hundred_thousand_series_are_twelve_and_the_others(reader: ClickHouse, clickhouse: StackSettings) -> None:
    with clickhouse.clickhouse("admin") as admin:
        admin.post(
            "INSERT INTO counterflow.counter"
            " (ts, interval_s, system, source, agent_id, seq, collected_at, section, instance, counter, value)"
            f" SELECT toDateTime({int(END.timestamp())}, 'UTC'), 60, 'A', 'nmon', 'many', number, now(),"
            " 'VM', toString(number), 'many', number FROM numbers(100000)"
        )
        refresh(admin)
    chosen = {"metric": "counter.VM.many", "system": All(["A"]), "instance": All(["0"])}
    for name in (place.chart for row in boards()["cf-any-counter"].rows for place in row.panels):
        for bucket in (60, 3600):
            shown = Range(END - timedelta(hours=1), END, bucket)
            found = fetch(reader, expand(charts()[name].query, shown, chosen))
            assert list(problems(charts()[name], found)) == []
            assert 0 < len(found.rows) <= 200
    [highest] = {row[1] for row in found.rows if row[1] == "99999"}
    assert highest


WAITS = ("cpu_queueing", "disk", "journaling", "operating_system_contention", "lock_contention", "ineligible")
WAITED = {f"{one}_s": 6 for one in WAITS} | {"dispatched_cpu_s": 6, "other_s": 0, "total_s": 42}
TOGETHER: dict[str, tuple[str, tuple[dict[str, Any], ...], float]] = {
    "replicated_now": (
        "replication_lag",
        tuple({"component": "apply", "queue": queue, "row_count": 6000} for queue in ("Q1", "Q2", "Q3")),
        600,
    ),
    "work_now": (
        "workload",
        tuple({"workload": name, "unit_of_work": "orders", "done_delta": 1200} for name in ("DAY", "NIGHT")),
        80,
    ),
    "data_moved": ("disk_total", ({"read_mb": 90, "written_mb": 30},), 4 * 2**20),
    "disk_transfers_now": ("disk_total", ({"transfers_per_s": 500},), 1000),
    "paging_now": ("pool", ({"pool": "memory", "paging_space_pages_in": 60, "paging_space_pages_out": 120},), 6),
    "logical_io_now": ("io_mix", ({"grouping": "partition", "name": "*", "logical_io": 600},), 20),
    "tasks_waiting": ("wait_signature", ({"task": "*", **WAITED},), 1.2),
    "disk_waiting": ("wait_signature", ({"task": "*", **WAITED},), 0.2),
    "lock_waiting": ("wait_signature", ({"task": "*", **WAITED},), 0.4),
    "job_cpu_now": ("job_cpu", ({"grouping": "generic_job", "name": "B", "tasks": 1, "cpu_ms": 30_000},), 1),
    "job_io_now": ("io_mix", ({"grouping": "generic_job", "name": "B", "logical_io": 600},), 20),
    "job_waiting_now": ("wait_signature", ({"task": "1F", "job_name": "B", **WAITED},), 1.2),
}
"""Figures of several things: a dataset, its rows in a minute of either of two systems, and what they add up to."""


@pytest.mark.parametrize("figure", TOGETHER)
def test_a_figure_of_several_things_is_their_sum(figure: str, clickhouse: StackSettings) -> None:
    """The systems A and B, whose minutes do not end together; the jobs are called B, too."""
    dataset, found, total = TOGETHER[figure]
    with empty_tables(clickhouse) as admin:
        for system, ago_s in (("A", 10), ("B", 30)):
            envelope: dict[str, Any] = {"ts": END - timedelta(seconds=ago_s), "interval_s": 60, "system": system}
            insert(admin, dataset, *found, **envelope)
            insert(admin, "job_cpu", {"grouping": "partition", "name": "*", "tasks": 1, "cpu_ms": 0}, **envelope)
        [[_, value]] = rows(admin, charts()[figure], END, "A", "B").rows
    assert value == pytest.approx(total)


def test_what_names_no_system_is_refused_of_every_system(clickhouse: StackSettings) -> None:
    with empty_tables(clickhouse) as admin:
        letter = {"stage": "parse", "origin": "notes.txt:1", "reason": "unknown_line"}
        insert(admin, "deadletter", letter, ts=END, system="unknown")
        for name in ("refused_now", "refused", "dead_letters"):
            assert points(charts()[name], rows(admin, charts()[name], END, "A")) > 0, name
