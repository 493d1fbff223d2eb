"""Rows inserted straight into ClickHouse, for tests of queries and not of landing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import orjson

from counterflow.base.clickhouse import ClickHouse, Settings
from counterflow.schemas.definition import datasets
from counterflow.schemas.migrations import migrate
from counterflow.stack.settings import StackSettings
from tests.support.behind import behind


@contextmanager
def empty_tables(clickhouse: StackSettings) -> Iterator[ClickHouse]:
    """Yield the administrator's client of an engine with all tables and no rows; delete the rows afterwards."""
    with ClickHouse(clickhouse.clickhouse_url, "admin", clickhouse.clickhouse_password("admin")) as client:
        migrate(client)
        _empty(client)
        yield client
        _empty(client)


def _empty(client: ClickHouse) -> None:
    filled = "database = 'counterflow' AND name != 'migration' AND engine LIKE '%MergeTree' AND total_rows > 0"
    for table in client.rows(f"SELECT name FROM system.tables WHERE {filled}"):
        client.post(f"TRUNCATE TABLE counterflow.{table['name']} SYNC")


def insert(client: ClickHouse, table: str, *rows: dict[str, Any], database: str = "counterflow", **every: Any) -> None:
    """Insert rows; a column that the table does not have is refused. A row may have its own time of landing.

    A row has the columns of `every` that the table has and the row does not state; a counter has a source and an agent
    besides, a result the number of its rows. Of a view, the counters are inserted that give it these rows.
    """
    known = datasets()[table].all_columns if table in datasets() else every
    every = {name: value for name, value in every.items() if name in known}
    role = datasets()[table].role if table in datasets() else None
    rows = tuple({**_besides(role, {**every, **row}), **every, **row} for row in rows)
    if role == "view":
        insert_each(client, (counter for row in rows for counter in behind(table, row)), database=database)
        return
    exact: Settings = {
        "date_time_input_format": "best_effort",
        "input_format_skip_unknown_fields": 0,
        "insert_allow_materialized_columns": 1,
    }
    columns = ", ".join(f"`{column}`" for column in dict.fromkeys(column for row in rows for column in row))
    statement = f"INSERT INTO {database}.{table} ({columns}) FORMAT JSONEachRow"
    client.post(statement, b"\n".join(map(orjson.dumps, rows)), exact)


def insert_each(client: ClickHouse, rows: Iterable[tuple[str, dict[str, Any]]], **every: Any) -> None:
    """Insert rows, each of which comes with the name of its table."""
    of_table = defaultdict(list)
    for table, row in rows:
        of_table[table].append(row)
    for table, found in of_table.items():
        insert(client, table, *found, **every)


def given(**columns: Any) -> dict[str, Any]:
    """Return the columns of a row by name."""
    return columns


def _besides(role: str | None, row: dict[str, Any]) -> dict[str, Any]:
    if role == "counter":
        return {"source": "test", "agent_id": "test", "seq": 1, "collected_at": row.get("ts")}
    return {"n": 1} if role == "result" else {}
