"""Results computed from what landed, on a real engine: against recomputations in plain Python, and by the command.

The recomputations are those with which the tests of the jobs compare Flink, over the same input.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from click.testing import CliRunner

from counterflow.base.clickhouse import ClickHouse
from counterflow.cli import cli
from counterflow.pipelines import batch
from counterflow.pipelines.audit.results import audited, compare
from counterflow.pipelines.jobs import all_jobs, chosen
from counterflow.pipelines.jobs.link_wire import test_link_wire
from counterflow.schemas.definition import datasets
from counterflow.stack.settings import StackSettings
from tests.integration.test_audit import BEGIN, CASES, END, as_tables_keep_them, insert
from tests.support.flink_line import Record, Results, agrees

NOW = CASES["link_load"].NOW
LATER = datetime.now(UTC) + timedelta(hours=1)


def landed(client: ClickHouse, name: str) -> Results:
    """Land the counters of a case; return the right results."""
    module = CASES[name]
    counters = as_tables_keep_them(module.everything())
    for dataset, rows in counters.items():
        insert(client, dataset, rows)
    expected: Results = module.recompute(counters)
    return expected


def stored(client: ClickHouse, dataset: str) -> dict[tuple[str, ...], Record]:
    """Return the results of a table by key, as records write them: times in ISO 8601, no nulls."""
    definition = datasets()[dataset]
    times = [name for name, column in definition.all_columns.items() if column.type == "DateTime64"]
    rows = client.rows(f"SELECT * FROM counterflow.{dataset} FINAL", {"date_time_output_format": "iso"})
    found = [{name: value for name, value in row.items() if value is not None} for row in rows]
    found = [{**row, **{name: as_written(row[name]) for name in times if name in row}} for row in found]
    return {tuple(row[name] for name in definition.key): row for row in found}


def as_written(iso: str) -> str:
    """Return a time without the zeros that end its fraction of a second."""
    return iso.rstrip("Z").rstrip("0").rstrip(".") + "Z" if "." in iso else iso


_FILLED = "SELECT name FROM system.tables WHERE database = 'counterflow' AND total_rows > 0"


@pytest.mark.parametrize("case", CASES)
def test_results_are_right_and_the_audit_finds_them_right(client: ClickHouse, lander: ClickHouse, case: str) -> None:
    expected = landed(client, case)
    there = {row["name"] for row in client.rows(_FILLED)} | expected.keys()
    jobs = [job for job in all_jobs().values() if job.reads.keys() <= there and job.writes <= expected.keys()]
    written = batch.run(lander, jobs, BEGIN, END)
    assert {dataset for job in jobs for dataset in job.writes} == expected.keys()
    for dataset in expected:
        found = stored(client, dataset)
        assert found.keys() == expected[dataset].keys()
        assert written[dataset] == len(found) > 0
        for key, row in expected[dataset].items():
            assert agrees(found[key], row), (dataset, key, found[key], row)
        if dataset in audited():
            assert compare(client, dataset, BEGIN, END, LATER)[1:5] == (len(found), 0, 0, 0)


def test_a_link_is_wired_before_it_is_loaded_and_by_what_was_observed_later(
    client: ClickHouse, lander: ClickHouse
) -> None:
    """A line that was listed at noon carried the link before: the hour before knows its port."""
    times = [f"2026-05-04T11:{minute:02}:00Z" for minute in range(10)]
    links = [
        {**row, "ts": ts, "seq": 1}
        for ts in times
        for _, row in test_link_wire.samples("BANKA")[:3]
        if row["link_type"] != "interface"
    ]
    insert(client, "link", links)
    insert(client, "config", [{**row, "seq": 1} for _, row in test_link_wire.settings("BANKA")])
    hour = datetime(2026, 5, 4, 11, tzinfo=UTC), datetime(2026, 5, 4, 12, tzinfo=UTC)
    written = batch.run(lander, chosen(["link_load", "link_wire"]), *hour, "BANKA")
    assert written == {"link_wire": len(links), "link_load": len(links)}
    for dataset in written:
        assert {row["physical_port"] for row in stored(client, dataset).values()} == {test_link_wire.PORT}


def test_results_of_a_period_and_system_alone_are_computed_with_what_surrounds_them(
    client: ClickHouse, lander: ClickHouse
) -> None:
    """Ports belong to other systems too, end after the interval, and were listed minutes before it."""
    expected = landed(client, "link_load")["link_load"]
    begin, end = NOW + timedelta(minutes=2), NOW + timedelta(minutes=2, seconds=20)
    inside = {key: row for key, row in expected.items() if key[0] == "live" and begin <= at(key) < end}
    assert {row["phys_out_bytes_s"] is None for row in inside.values() if row["link_type"] == "nrg"} == {False}
    assert batch.run(lander, chosen(["link_load"]), begin, end, "live") == {"link_load": len(inside)}
    found = stored(client, "link_load")
    assert found.keys() == inside.keys()
    assert all(agrees(found[key], row) for key, row in inside.items())


def test_rows_around_a_period_are_set_beside_its_intervals(client: ClickHouse, lander: ClickHouse) -> None:
    """Processors end after the interval that they meet; path and copies were reported before the period."""
    expected = {**landed(client, "log_load"), **landed(client, "account_cpu")}
    for minutes in ((10.5, 20), (39.5, 53)):
        begin, end = (NOW - timedelta(days=3) + timedelta(minutes=minute) for minute in minutes)
        written = batch.run(lander, chosen(["account_cpu", "log_load"]), begin, end, "late")
        assert written["log_load"] > 0
        for dataset in ("account_cpu", "log_load"):
            inside = {key: row for key, row in expected[dataset].items() if key[0] == "late" and begin <= at(key) < end}
            found = stored(client, dataset)
            assert found.keys() == inside.keys()
            assert written[dataset] == len(inside)
            assert all(agrees(found[key], row) for key, row in inside.items())
            client.post(f"TRUNCATE TABLE counterflow.{dataset} SYNC")


def at(key: tuple[str, ...]) -> datetime:
    return datetime.fromisoformat(key[-1])


def test_verdicts_of_a_period_have_the_state_that_the_intervals_before_left(
    client: ClickHouse, lander: ClickHouse
) -> None:
    expected = landed(client, "log_load")["verdict"]
    batch.run(lander, chosen(["log_load"]), BEGIN, END)
    begin = NOW + timedelta(minutes=3)
    batch.run(lander, chosen(["log_ceiling"]), begin, END)
    inside = {key: row for key, row in expected.items() if at(key) >= begin}
    found = stored(client, "verdict")
    assert found.keys() == inside.keys()
    assert {row["state"] for row in inside.values()} > {"CRITICAL"}
    assert all(agrees(found[key], row) for key, row in inside.items())


def test_a_result_replaces_one_of_as_many_rows_and_none_of_more(client: ClickHouse, lander: ClickHouse) -> None:
    expected = landed(client, "io_mix")["io_mix"]
    rows = list(expected.values())[:2]
    wrong = [{**rows[0], "logical_io": 1.0}, {**rows[1], "logical_io": 1.0, "n": rows[1]["n"] + 1}]
    insert(client, "io_mix", wrong)
    batch.run(lander, chosen(["io_mix"]), BEGIN, END)
    found = stored(client, "io_mix")
    of_key = [found[tuple(row[name] for name in datasets()["io_mix"].key)] for row in rows]
    assert [row["logical_io"] for row in of_key] == [rows[0]["logical_io"], 1.0]
    assert compare(client, "io_mix", BEGIN, END, LATER).wrong == 1, "the audit reports what a rerun leaves"


def test_the_command_computes_as_the_user_that_inserts(
    client: ClickHouse, clickhouse: StackSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = landed(client, "io_mix")["io_mix"]
    kept = clickhouse.stack_file.read_text() if clickhouse.stack_file.exists() else None
    clickhouse.stack_file.write_text(clickhouse.model_dump_json())
    monkeypatch.setenv("COUNTERFLOW_HOME", str(clickhouse.home))
    period = ("--from", f"{BEGIN:%F}", "--to", f"{END:%F}")
    try:
        done: Any = CliRunner().invoke(cli, ["jobs", "rerun", "io_mix", *period], catch_exceptions=False)
    finally:
        clickhouse.stack_file.write_text(kept) if kept else clickhouse.stack_file.unlink()
    assert done.output == f"io_mix: {len(expected):,} rows\n"
    assert len(stored(client, "io_mix")) == len(expected)
