"""Whether parsed records are valid by the definitions of their datasets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from counterflow.schemas.definition import datasets
from counterflow.schemas.json_schema import validator

_AGENT = {"agent_id": "check", "seq": 1, "collected_at": "2026-01-01T00:00:00Z"}


def mistakes(where: str, found: Iterable[tuple[str, Mapping[str, Any]]]) -> list[str]:
    """Return how records break their schema in their published form, each once.

    `found` holds dataset and fields as a format yields them; the agent's own fields are added.
    """
    validators = {name: validator(dataset) for name, dataset in datasets().items()}
    seen: dict[str, None] = {}
    for name, fields in found:
        if name not in validators:
            seen[f"{where}: dataset `{name}` has no definition"] = None
            continue
        for error in validators[name].iter_errors({**fields, **_AGENT}):
            place = ".".join(str(step) for step in error.instance_path)
            seen[f"{where}: {name}{'.' if place else ''}{place}: {error.message}"] = None
    return list(seen)
