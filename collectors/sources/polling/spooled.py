"""A batch as JSON, for a file of the spool: every value comes back with its type."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from dataclasses import fields
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any

from counterflow.collectors.sources.polling.batch import Batch

_READ: dict[str, Callable[[str], object]] = {
    "$decimal": Decimal,
    "$datetime": datetime.fromisoformat,
    "$date": date.fromisoformat,
    "$time": time.fromisoformat,
    "$bytes": base64.b64decode,
}


def encode(batch: Batch) -> bytes:
    """Return a batch as JSON; a value that JSON does not have is an object with its type as the only key.

    Raises
    ------
    TypeError : a driver gave a value of a type that no column has.
    """
    content = {field.name: getattr(batch, field.name) for field in fields(Batch)}
    content["rows"] = [tuple(row) for row in batch.rows]
    return json.dumps(content, default=_tagged, separators=(",", ":")).encode()


def decode(content: bytes) -> Batch:
    """Return the batch in `content`.

    Raises
    ------
    ValueError : it is not a batch.
    """
    try:
        found = json.loads(content, object_hook=_untagged)
        found["rows"] = [tuple(row) for row in found["rows"]]
        found["columns"] = tuple(found["columns"])
        return Batch(**found)
    except (TypeError, KeyError, ArithmeticError) as error:
        raise ValueError(f"no batch: {error}") from error


def _tagged(value: object) -> dict[str, str]:
    match value:
        case Decimal():
            return {"$decimal": str(value)}
        case datetime():  # it is a date, too, so it comes first
            return {"$datetime": value.isoformat()}
        case date():
            return {"$date": value.isoformat()}
        case time():
            return {"$time": value.isoformat()}
        case bytes() | bytearray() | memoryview():
            return {"$bytes": base64.b64encode(value).decode()}
    raise TypeError(f"the spool cannot keep a value of type {type(value).__name__}")


def _untagged(found: dict[str, Any]) -> Any:
    if len(found) == 1:
        (key, value), *_ = found.items()
        if key in _READ:
            return _READ[key](value)
    return found
