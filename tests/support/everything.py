"""Rows of every dataset: of a system that reports every column, and of one that reports no column that may be null."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from counterflow.schemas.definition import Column, Dataset, envelope

TIMES = ("2026-05-04T09:15:00Z", "2026-05-04T09:30:00Z", "2026-05-04T10:30:00Z")
KEYS: dict[str, tuple[Any, ...]] = {
    "counted": ("disk", "job"),
    "disk": ("one",),
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
NAMED = {"job_name": "QDBMSRVR", "task": "1F", "wait_group": "lock_contention"}
"""Values of other columns, so that jobs meet their waits."""
REASONS = {"missing", "final"}
"""Columns that are null where all is well."""


def rows_of(dataset: Dataset, system: str, *, nulls: bool) -> Iterator[dict[str, Any]]:
    """Yield rows of a dataset at each of `TIMES`, one an entity."""
    columns = {**envelope(dataset.role), **dataset.columns}
    absent = {name for name, column in columns.items() if column.null_when and (nulls or name in REASONS)}
    row = {name: None if name in absent else NAMED.get(name, _one(column)) for name, column in columns.items()}
    keys = [name for name in columns if name in KEYS and name in (*dataset.key, "source", "stale")]
    for ts, *values in itertools.product(TIMES, *(KEYS[name] for name in keys)):
        yield row | dict(zip(keys, values, strict=True)) | {"system": system, "ts": ts}


def _one(column: Column) -> Any:
    return column.values[0] if column.values else ONE[column.type]
