"""Every stored question on migrated tables, of a system that reports everything and of one that reports nothing."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from typing import Any

import orjson
import pytest

from counterflow.clickhouse import ClickHouse
from counterflow.queries import BEGINNING, END, queries
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
SEPARATE = {"configuration_changes", "link_skew", "provisional_results"}
"""Questions about a difference, of which these rows have none."""


@pytest.fixture(scope="module")
def reader(clickhouse: StackSettings) -> Iterator[ClickHouse]:
    """The tables with rows of the systems `all` (no column is null) and `nothing` (each is that may be)."""
    url = clickhouse.clickhouse_url
    with ClickHouse(url, "admin", clickhouse.clickhouse_password("admin")) as admin:
        admin.post("DROP DATABASE IF EXISTS counterflow SYNC")
        migrate(admin)
        for dataset in datasets().values():
            rows = [*_rows(dataset, "all", nulls=False), *_rows(dataset, "nothing", nulls=True)]
            best_effort = {"date_time_input_format": "best_effort"}
            body = b"\n".join(map(orjson.dumps, rows))
            admin.post(f"INSERT INTO counterflow.{dataset.dataset} FORMAT JSONEachRow", body, best_effort)
        with ClickHouse(url, "reader", clickhouse.clickhouse_password("reader")) as client:
            yield client
        admin.post("DROP DATABASE IF EXISTS counterflow SYNC")


def _rows(dataset: Dataset, system: str, *, nulls: bool) -> Iterator[dict[str, Any]]:
    columns = {**envelope(dataset.role), **dataset.columns}
    absent = {name for name, column in columns.items() if column.null_when and (nulls or name in REASONS)}
    row = {name: None if name in absent else _one(column) for name, column in columns.items()}
    keys = [name for name in columns if name in KEYS and name in (*dataset.key, "source", "stale")]
    for ts, *values in itertools.product(TIMES, *(KEYS[name] for name in keys)):
        yield row | dict(zip(keys, values, strict=True)) | {"system": system, "ts": ts}


def _one(column: Column) -> Any:
    return column.values[0] if column.values else ONE[column.type]


def answer(client: ClickHouse, name: str, systems: str = "[]") -> tuple[dict[str, str], list[dict[str, Any]]]:
    """Return the types of the columns, by name, and the rows."""
    asked: dict[str, str | int] = {"param_systems": systems, "param_since": BEGINNING, "param_until": END}
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
    assert answer(reader, name, r"['it\'s <b>gone</b>']")[1] == []


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
