"""Generates the INSERT of a dataset, with which the engine itself turns the bytes of Kafka's messages into rows."""

from __future__ import annotations

from functools import cache

from counterflow.base.clickhouse import literal
from counterflow.schemas.clickhouse_ddl import value_type
from counterflow.schemas.definition import Dataset, datasets


@cache
def insert(dataset: str) -> str:
    """Return the statement that inserts messages of a dataset's topic, joined by newlines.

    A message of a counter is a frame (schemas/frame.py), whose arrays become rows; a message of a result is a row.
    """
    found = datasets()[dataset]
    if found.role == "result":
        return insert_rows(dataset)
    return f"{_exploded(found, f'input({_structure(found)})')}\nFORMAT JSONEachRow"


def insert_rows(dataset: str) -> str:
    """Return the statement that inserts rows of a dataset as JSON, one a line."""
    return f"INSERT INTO counterflow.{dataset} FORMAT JSONEachRow"


def insert_files(dataset: str, files: str) -> str:
    """Return the statement that inserts the frames in files, one a line; `files` is a path, which may have `*`."""
    found = datasets()[dataset]
    return _exploded(found, f"file('{files}', 'JSONEachRow', {_structure(found)})")


def _exploded(dataset: Dataset, frames: str) -> str:
    """Return the INSERT of the rows of frames.

    A column that a frame leaves out is an empty array, which is filled up with nulls to the length of the others.
    """
    own = dataset.columns
    first = next(name for name, column in own.items() if column.null_when is None)
    selected = [f"`{name}` + place - 1 AS `{name}`" if name == "seq" else f"`{name}`" for name in dataset.all_columns]
    joined = [
        f"`{name}`" if column.null_when is None else f"arrayResize(`{name}`, length(`{first}`)) AS `{name}`"
        for name, column in own.items()
    ]
    return (
        f"INSERT INTO counterflow.{dataset.dataset} ({', '.join(f'`{name}`' for name in dataset.all_columns)})\n"
        f"SELECT {', '.join(selected)}\n"
        f"FROM {frames}\n"
        f"ARRAY JOIN arrayEnumerate(`{first}`) AS place, {', '.join(joined)}"
    )


def _structure(dataset: Dataset) -> str:
    """Return the columns of a message as a literal: all are scalars, but in a frame those of its rows are arrays."""
    arrays = dataset.columns if dataset.role == "counter" else {}
    typed = [
        f"`{name}` Array({value_type(column)})" if name in arrays else f"`{name}` {value_type(column)}"
        for name, column in dataset.all_columns.items()
    ]
    return literal(", ".join(typed))
