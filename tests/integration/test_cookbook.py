"""Every stored question on migrated tables, of a system that reports everything and of one that reports nothing."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from typing import Any

import orjson
import pytest

from counterflow.analysis.queries import BEGINNING, END, ask, queries
from counterflow.base.clickhouse import ClickHouse
from counterflow.schemas.definition import Column, Dataset, datasets, envelope
from counterflow.schemas.migrations import migrate
from counterflow.stack.settings import StackSettings

TIMES = ("2026-05-04T09:15:00Z", "2026-05-04T09:30:00Z", "2026-05-04T10:30:00Z")
KEYS: dict[str, tuple[Any, ...]] = {
    "counted": ("disk", "job"),
    "disk": ("*", "one"),
    "engine": ("all",),
    "grouping": ("partition", "job", "generic_job", "accounting_code"),
    "name": ("QDBMSRVR",),
    "entity_type": ("nrg", "log"),
    "rule": ("roce_cap", "log_ceiling"),
    "section": ("run",),
    "source": ("ibmi_tables",),
    "stale": (False,),
    "task": ("*", "1F"),
}
"""Values of keys and the like, so that no condition of a question leaves out all rows."""
ONE: dict[str, Any] = {"String": "one", "UInt64": 1, "Int64": 1, "Float64": 20.0, "Bool": True, "DateTime64": TIMES[0]}
REASONS = {"missing", "final"}
"""Columns that are null where all is well."""
SEPARATE = {
    *("configuration_changes", "link_skew", "provisional_results", "resync_progress"),
    *("lock_holders", "mirror_copy_blocking", "mirror_open_for_update"),
}
"""Questions about a difference, or about settings, of which these rows have none."""


@pytest.fixture(scope="module")
def admin(clickhouse: StackSettings) -> Iterator[ClickHouse]:
    """The tables with rows of the systems `all` (no column is null) and `nothing` (each is that may be)."""
    with ClickHouse(clickhouse.clickhouse_url, "admin", clickhouse.clickhouse_password("admin")) as client:
        client.post("DROP DATABASE IF EXISTS counterflow SYNC")
        migrate(client)
        for dataset in datasets().values():
            rows = [*_rows(dataset, "all", nulls=False), *_rows(dataset, "nothing", nulls=True)]
            insert(client, dataset.dataset, *rows)
        yield client
        client.post("DROP DATABASE IF EXISTS counterflow SYNC")


@pytest.fixture(scope="module")
def reader(admin: ClickHouse, clickhouse: StackSettings) -> Iterator[ClickHouse]:
    """The same tables, asked as the user who may only read."""
    with ClickHouse(clickhouse.clickhouse_url, "reader", clickhouse.clickhouse_password("reader")) as client:
        yield client


def insert(client: ClickHouse, table: str, *rows: dict[str, Any]) -> None:
    best_effort = {"date_time_input_format": "best_effort"}
    client.post(f"INSERT INTO counterflow.{table} FORMAT JSONEachRow", b"\n".join(map(orjson.dumps, rows)), best_effort)


def _rows(dataset: Dataset, system: str, *, nulls: bool) -> Iterator[dict[str, Any]]:
    columns = {**envelope(dataset.role), **dataset.columns}
    absent = {name for name, column in columns.items() if column.null_when and (nulls or name in REASONS)}
    row = {name: None if name in absent else _one(column) for name, column in columns.items()}
    keys = [name for name in columns if name in KEYS and name in (*dataset.key, "source", "stale")]
    for ts, *values in itertools.product(TIMES, *(KEYS[name] for name in keys)):
        yield row | dict(zip(keys, values, strict=True)) | {"system": system, "ts": ts}


def _one(column: Column) -> Any:
    return column.values[0] if column.values else ONE[column.type]


def answer(client: ClickHouse, name: str, *systems: str) -> tuple[dict[str, str], list[dict[str, Any]]]:
    """Return the types of the columns, by name, and the rows."""
    asked: dict[str, Any] = {"param_systems": list(systems), "param_since": BEGINNING, "param_until": END}
    asked |= {"default_format": "JSON", "output_format_json_quote_denormals": 1}  # else nan and inf are null there
    found = orjson.loads(client.post(queries()[name].sql, settings=asked))
    return {column["name"]: column["type"] for column in found["meta"]}, found["data"]


@pytest.mark.parametrize("name", queries())
def test_every_question_is_answered_and_what_is_not_known_is_not_0(reader: ClickHouse, name: str) -> None:
    columns, rows = answer(reader, name)
    assert all(re.fullmatch(r"[a-z][a-z0-9_]*", column) for column in columns)
    figures = [column for column, kind in columns.items() if "Float64" in kind]
    for row, column in itertools.product(rows, figures):
        assert row[column] not in ("nan", "inf", "-inf"), column
        if row.get("system") == "nothing":
            assert row[column] != 0, column


@pytest.mark.parametrize("name", [name for name, query in queries().items() if "{systems:" in query.sql])
def test_a_system_that_is_not_there_has_no_rows(reader: ClickHouse, name: str) -> None:
    assert answer(reader, name, "it's <b>gone</b>")[1] == []


def test_every_question_has_an_answer_where_everything_is_reported(reader: ClickHouse) -> None:
    assert {name for name in queries() if not answer(reader, name)[1]} == SEPARATE


def test_every_table_and_view_and_every_column_says_what_it_is(reader: ClickHouse) -> None:
    shown = "database = 'counterflow' AND engine != 'MaterializedView'"
    tables = reader.rows(f"SELECT name FROM system.tables WHERE {shown} AND comment = ''")
    assert tables == []
    among = f"(SELECT name FROM system.tables WHERE {shown})"
    columns = reader.rows(
        f"SELECT table, name FROM system.columns WHERE database = 'counterflow' AND comment = '' AND table IN {among}"
    )
    assert columns == []


def result(ts: str, **columns: Any) -> dict[str, Any]:
    return {"ts": ts, "interval_s": 900, "system": "worked", "n": 1, **columns}


def worked(client: ClickHouse, name: str, since: str = BEGINNING, until: str = END) -> list[dict[str, Any]]:
    return ask(client, queries()[name], ["worked"], since, until)


def test_a_ratio_of_a_period_is_of_its_sums(admin: ClickHouse, reader: ClickHouse) -> None:
    def mix(ts: str, reads: float, inserts: float, other: float) -> dict[str, Any]:
        total = reads + inserts + other
        figures = {
            "reads": reads,
            "inserts": inserts,
            "other": other,
            "logical_io": total,
            "row_operations": total,
            "modify_basis": "changes",
        }
        return result(ts, grouping="job", name="A", modify_pct=100 * (inserts + other) / total, **figures)

    rows = (mix(TIMES[0], 90.0, 5.0, 5.0), mix(TIMES[1], 150.0, 100.0, 50.0), mix(TIMES[2], 0.0, 1.0, 0.0))
    insert(admin, "io_mix", *rows)
    [row] = worked(reader, "modify_ratio", "2026-05-04 09:00:00", "2026-05-04 10:00:00")
    # (10 + 150) of (100 + 300); the third interval is of the next hour
    assert (row["logical_io_total"], row["modify_pct_avg"], row["modify_pct_max"]) == (400, 40, 50)


def test_a_cost_is_told_of_both_sides_of_a_moment(admin: ClickHouse, reader: ClickHouse) -> None:
    def cost(ts: str, accounts: float, gcp_ms: float) -> dict[str, Any]:
        return result(ts, workload="W", basis="lpar", samples=1, accounts=accounts, gcp_ms_per_account=gcp_ms)

    insert(admin, "account_cpu", cost(TIMES[0], 50.0, 0.3), cost(TIMES[1], 100.0, 0.2), cost(TIMES[2], 300.0, 0.4))
    rows = worked(reader, "cost_before_and_after", since="2026-05-04 09:15:00")
    found = [(row["period"], row["units"], row["gcp_ms_a_unit"], row["ziip_ms_a_unit"]) for row in rows]
    assert found == [("before", 50, 0.3, None), ("after", 400, 0.35, None)]


def test_what_the_worst_interval_lacks_is_not_taken_from_another(admin: ClickHouse, reader: ClickHouse) -> None:
    queue = {"component": "apply", "queue": "Q1"}
    worst = result(TIMES[0], **queue, end_to_end_ms=5000.0, queue_ms=3000.0, apply_ms=1000.0)
    insert(admin, "replication_lag", worst, result(TIMES[1], **queue, end_to_end_ms=2000.0, capture_ms=1900.0))
    [row] = worked(reader, "replication_worst_queue")
    assert (row["end_to_end_s_max"], row["capture_s_then"], row["queue_s_then"]) == (5, None, 3)
    assert row["worst_at"] == "2026-05-04 09:15:00.000"


def test_slow_intervals_name_what_ran_then(admin: ClickHouse, reader: ClickHouse) -> None:
    def disk(ts: str, name: str, response_ms: float | None) -> dict[str, Any]:
        return result(ts, disk=name, leaf=True, response_ms=response_ms, transfers_per_s=10.0)

    slow = (
        disk(TIMES[0], "d1", 12.0),
        disk(TIMES[0], "d2", 9.0),
        disk(TIMES[1], "d1", 10.0),
        disk(TIMES[2], "d1", None),
    )
    insert(admin, "disk_load", *slow)
    ran = {"java": 0.5, "db2sysc": 1.5, "sh": None}
    insert(admin, "footprint", *(result(TIMES[0], command=name, cpu_cores=cores) for name, cores in ran.items()))
    [row] = worked(reader, "slow_disk_intervals")
    assert (row["slow_disks"], row["worst_disk"], row["most_cpu"]) == (1, "d1", ["db2sysc", "java"])


def test_a_gap_is_what_no_interval_covers(admin: ClickHouse, reader: ClickHouse) -> None:
    common = {"source": "nmon", "agent_id": "a", "collected_at": TIMES[2], "counted": "disk", "row_count": 1}
    insert(admin, "manifest", *({**result(ts), **common, "seq": seq} for seq, ts in enumerate(TIMES)))
    [row] = worked(reader, "data_gaps")
    # nothing ends between 9:30 and 10:30, the last interval began at 10:15
    assert (row["gap_s"], row["intervals_lacking"]) == (2700, 3)


SEPARATE = {
    *("configuration_changes", "link_skew", "provisional_results", "resync_progress"),
    *("lock_holders", "mirror_copy_blocking", "mirror_open_for_update"),
}
"""Questions about a difference, or about settings, of which these rows have none."""
