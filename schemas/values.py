"""Checks values against the definition of their column, before Kafka.

It refuses what ClickHouse would accept silently: a missing or integer timestamp, text or NaN as a number, an integer
overflow, an unknown column (ClickHouse documentation: JSONEachRow; each case was tried).
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from functools import cache
from typing import Annotated, Any, Literal

from msgspec import Meta, ValidationError, convert, defstruct

from counterflow.schemas.definition import Column, datasets, envelope

TIMESTAMP = (
    "^2[0-2][0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])"
    "T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\\.[0-9]{1,3})?Z$"
)
"""ISO 8601 UTC, 2000 to 2299, at most milliseconds: finer digits would be truncated on landing."""

_TYPES: dict[str, Any] = {
    "String": str,
    "Float64": Annotated[float, Meta(ge=-sys.float_info.max, le=sys.float_info.max)],  # neither NaN nor infinite
    "Int64": Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)],
    "UInt64": Annotated[int, Meta(ge=0, le=2**63 - 1)],  # Flink has no unsigned type
    "Bool": bool,
    "DateTime64": Annotated[str, Meta(pattern=TIMESTAMP)],
}


class Values:
    """The values that a column may have."""

    def __init__(self, column: Column) -> None:
        self._is_time = column.type == "DateTime64"
        self._expected = f", expected {', '.join(column.values)}" if column.values else ""
        one: Any = Literal[column.values] if column.values else _TYPES[column.type]
        self.is_required = column.null_when is None
        # a struct, since msgspec compiles any other type with limits anew at each call
        self._type = defstruct("Values", [("values", list[one] if self.is_required else list[one | None])])

    def mistake(self, values: Sequence[Any]) -> str | None:
        """Return why a value is not one of the column's; None where all are."""
        try:
            convert({"values": values}, self._type)
            if self._is_time:
                for value in filter(None, {*values}):
                    datetime.fromisoformat(value)
        except (ValidationError, ValueError) as error:
            return str(error).partition(" - at ")[0] + self._expected
        return None


@cache
def columns(dataset: str) -> dict[str, Values]:
    """Return what each column of a dataset's own may hold."""
    return {name: Values(column) for name, column in datasets()[dataset].columns.items()}


@cache
def members() -> dict[str, Values]:
    """Return what each member of the envelope may hold that agents publish."""
    return {name: Values(column) for name, column in envelope("counter").items()}


def mistakes(row: Mapping[str, Any], of: Mapping[str, Values]) -> Iterator[str]:
    """Yield what is wrong with a row, or with the envelope of rows."""
    for name, value in row.items():
        if name not in of:
            yield f"{name}: no such column"
        elif why := of[name].mistake([value]):
            yield f"{name}: {value!r:.100}: {why}"
    yield from (f"{name}: is missing, which every row needs" for name in of if of[name].is_required and name not in row)
