"""The JSON Schema (draft 2020-12) of rows and messages: a check of what is published that is not the product's own.

`counterflow.schemas.values` has the same rules.
"""

from __future__ import annotations

from typing import Any

import jsonschema_rs

from counterflow.schemas.definition import Column, Dataset
from counterflow.schemas.frame import MOST_ROWS
from counterflow.schemas.values import TIMESTAMP

_TYPES: dict[str, dict[str, Any]] = {
    "String": {"type": "string"},
    "Float64": {"type": "number"},  # excludes NaN and infinity
    "Int64": {"type": "integer", "minimum": -(2**63), "maximum": 2**63 - 1},
    "UInt64": {"type": "integer", "minimum": 0, "maximum": 2**63 - 1},  # Flink has no unsigned type
    "Bool": {"type": "boolean"},
    "DateTime64": {"type": "string", "format": "date-time", "pattern": TIMESTAMP},
}


def validator(dataset: Dataset) -> jsonschema_rs.Draft202012Validator:
    """Return a compiled validator of the dataset's records, which also rejects impossible dates."""
    return jsonschema_rs.Draft202012Validator(json_schema(dataset), validate_formats=True)


def json_schema(dataset: Dataset) -> dict[str, Any]:
    """Return the schema of one row: every column, nulls omitted, nothing else."""
    columns = dataset.all_columns
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:{dataset.topic}",
        "title": dataset.topic,
        "description": dataset.row,
        "type": "object",
        "properties": {name: _schema(column) for name, column in columns.items()},
        "required": [name for name, column in columns.items() if column.null_when is None],
        "additionalProperties": False,
    }


def message_schema(dataset: Dataset) -> dict[str, Any]:
    """Return the schema of a message of the topic: a frame of a counter (schemas/frame.py), a row of a result."""
    row = json_schema(dataset)
    if dataset.role == "result":
        return row
    arrays = {
        name: {"type": "array", "maxItems": MOST_ROWS, "items": _nullable(column), "description": column.comment}
        for name, column in dataset.columns.items()
    }
    whole = {"type": "integer", "minimum": 1}
    sizes = {"frame_rows": {**whole, "maximum": MOST_ROWS}, "part": whole, "parts": whole}
    return {**row, "properties": {**row["properties"], **arrays, **sizes}, "required": [*row["required"], "frame_rows"]}


def _nullable(column: Column) -> dict[str, Any]:
    value = {name: part for name, part in _schema(column).items() if name != "description"}
    return value if column.null_when is None else {"anyOf": [value, {"type": "null"}]}


def _schema(column: Column) -> dict[str, Any]:
    allowed = {"enum": list(column.values)} if column.values else {}
    return {**_TYPES[column.type], **allowed, "description": column.comment}
