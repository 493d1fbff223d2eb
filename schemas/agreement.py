"""Finds every difference between the definitions and tables, records and jobs, not only the first."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from counterflow.base.clickhouse import ClickHouse
from counterflow.schemas import clickhouse_ddl as ddl
from counterflow.schemas.definition import Dataset
from counterflow.schemas.json_schema import validator

_AGENT = {"agent_id": "check", "seq": 1, "collected_at": "2026-01-01T00:00:00Z"}
_OTHERS = {  # tables without a dataset
    *("arrival", "deadletter_handled", "hour_touched", "ledger", "metric_1h", "metric_day", "migration"),
    *("processor_load_1h", "rollup_progress", "run_day", "system_dataset", "system_day"),
}
_INSERT = re.compile(r"\bINSERT\s+INTO\s+`?(\w+)`?\s*(\(([^()]*)\))?", re.IGNORECASE)


def tables(client: ClickHouse, definitions: Mapping[str, Dataset]) -> Iterator[str]:
    """Yield each difference between a migrated server's tables and views and the definitions."""
    where = "WHERE database = 'counterflow'"
    made = {row["name"]: row for row in client.rows(f"SELECT * FROM system.tables {where}")}
    columns: dict[str, dict[str, tuple[str, str]]] = {name: {} for name in made}
    for row in client.rows(f"SELECT * FROM system.columns {where} AND default_kind != 'MATERIALIZED'"):
        columns[row["table"]][row["name"]] = (row["type"], row["comment"])
    for name, dataset in definitions.items():
        if name not in made:
            yield f"table {name}: it is missing"
            continue
        yield from _columns(dataset, columns[name])
        yield from _table(dataset, made[name])
        yield from _views(dataset, made)
    for name, row in made.items():
        if row["engine"].endswith("MergeTree") and name not in definitions.keys() | _OTHERS:
            yield f"table {name}: no definition has it"


def records(
    where: str, found: Iterable[tuple[str, Mapping[str, Any]]], definitions: Mapping[str, Dataset]
) -> list[str]:
    """Return the schema violations of parsed records in their published form, each once.

    `found` holds dataset and fields as a format yields them; the agent's own fields are added.
    """
    validators = {name: validator(dataset) for name, dataset in definitions.items()}
    mistakes: dict[str, None] = {}
    for name, fields in found:
        if name not in validators:
            mistakes[f"{where}: dataset `{name}` has no definition"] = None
            continue
        for error in validators[name].iter_errors({**fields, **_AGENT}):
            place = ".".join(str(step) for step in error.instance_path)
            mistakes[f"{where}: {name}{'.' if place else ''}{place}: {error.message}"] = None
    return list(mistakes)


def inserts(where: str, sql: str, definitions: Mapping[str, Dataset]) -> Iterator[str]:
    """Yield each mismatch between a job's INSERTs and the definitions."""
    for name, columns, inner in _INSERT.findall(re.sub(r"--[^\n]*", "", sql)):
        if name not in definitions:
            yield f"{where}: INSERT INTO {name}: no definition has it"
        elif not columns:
            yield f"{where}: INSERT INTO {name}: names no columns"
        else:
            known = definitions[name].all_columns
            named = [column.strip().strip("`") for column in inner.split(",")]
            yield from (f"{where}: {name} has no column `{column}`" for column in named if column not in known)
            required = (column for column, about in known.items() if about.null_when is None)
            yield from (
                f"{where}: {name}.{column} is never null, but not inserted"
                for column in required
                if column not in named
            )


def _columns(dataset: Dataset, columns: Mapping[str, tuple[str, str]]) -> Iterator[str]:
    wanted = ddl.columns(dataset)
    if dataset.role == "view":  # its expressions decide whether text has a dictionary
        wanted, columns = ({n: (_plain(type_), text) for n, (type_, text) in of.items()} for of in (wanted, columns))
    for column in wanted.keys() - columns.keys():
        yield f"table {dataset.dataset}: no column `{column}`, which the definition has"
    for column in columns.keys() - wanted.keys():
        yield f"table {dataset.dataset}: column `{column}`, which the definition lacks"
    for column in wanted.keys() & columns.keys():
        for what, ours, theirs in zip(("type", "comment"), wanted[column], columns[column], strict=True):
            if ours != theirs:
                yield f"table {dataset.dataset}: {what} of `{column}` is `{theirs}`, the definition has `{ours}`"


def _plain(type_: str) -> str:
    return re.sub(r"^LowCardinality\((.*)\)$", r"\1", type_)


def _table(dataset: Dataset, made: Mapping[str, Any]) -> Iterator[str]:
    compared = [("comment", dataset.row, made["comment"])]
    if dataset.role != "view":
        engine = made["engine_full"].split(" PARTITION BY")[0].removeprefix("Replicated")
        compared += [
            ("sorting key", ddl.sorting_key(dataset), made["sorting_key"]),
            ("engine", ddl.table_engine(dataset), engine),
        ]
    for what, ours, theirs in compared:
        if ours != theirs:
            yield f"table {dataset.dataset}: {what} is `{theirs}`, the definition has `{ours}`"


def _views(dataset: Dataset, made: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    name = dataset.dataset
    if dataset.role == "counter" and f"{name}_to_ledger" not in made:
        yield f"view {name}_to_ledger: no migration makes it, so losses of {name} would go unseen"
    if dataset.lists_systems and f"{name}_to_system_dataset" not in made:
        yield f"view {name}_to_system_dataset: no migration makes it, so a system of {name} alone would be unlisted"
    if dataset.rolled_up and f"{name}_to_hour_touched" not in made:
        yield f"view {name}_to_hour_touched: no migration makes it, so {name} would be missing in the rollup"
    if dataset.instance is None:
        return
    if "metric_value" not in made:
        yield f"view metric_value: no migration makes it, so values of {name} would not be found by name"
        return
    for column in ddl.metrics(dataset):
        if not re.search(rf"\b{column}\b", made["metric_value"]["as_select"]):
            yield f"view metric_value: `{column}` is missing"
