"""The site's own file, the format `site`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

from counterflow.simulate.case import Placed

Fields = Mapping[str, object]
Entry = tuple[str, Fields]
"""The list to which an entry belongs, and its fields."""


def run(one: Placed[Any], workload: str, units: str, engines: Mapping[str, int]) -> Entry:
    """Return the entry of a run, with its workload and the engines of its systems."""
    what: Fields = {"workload": workload, "units": units, "engines": engines}
    return "runs", {"name": one.run.name, "systems": [*one.run.systems], "begin": one.begin, "end": one.end, **what}


def lines(entries: Iterable[Entry], name: str = "simulated") -> Iterator[str]:
    yield "# Generated: no real site wrote this."
    yield f"site: {name}"
    lists: dict[str, list[Fields]] = {}
    for of, fields in entries:
        lists.setdefault(of, []).append(fields)
    for of, items in lists.items():
        yield f"{of}:"
        for fields in items:
            yield "  - {" + ", ".join(f"{key}: {_shown(value)}" for key, value in fields.items()) + "}"


def _shown(value: object) -> str:
    return f"{value:%Y-%m-%dT%H:%M:%SZ}" if isinstance(value, datetime) else json.dumps(value)
