"""Records as agents publish them: in frames."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from counterflow.schemas.definition import datasets, envelope

Row = dict[str, Any]


def frame(dataset: str, rows: Sequence[Row]) -> Row:
    """Return the frame of rows that share their envelope; `seq`, where they have one, is that of the first."""
    own = datasets()[dataset].columns
    there = {name for row in rows for name, value in row.items() if value is not None}
    shared = {name: value for name, value in rows[0].items() if name not in own and value is not None}
    columns = {name: [row.get(name) for row in rows] for name in own if name in there}
    return {**shared, "frame_rows": len(rows), **columns}


def frames(dataset: str, rows: Iterable[Row]) -> Iterator[Row]:
    """Yield frames of consecutive rows that share their envelope, in order, no entity twice in one."""
    entity = [name for name in datasets()[dataset].key if name in datasets()[dataset].columns]
    shared = [name for name in envelope("counter") if name != "seq"]
    held: dict[tuple[Any, ...], Row] = {}
    before: Row = {}
    for row in rows:
        key = tuple(row.get(name) for name in entity)
        if held and (key in held or any(row.get(name) != before.get(name) for name in shared)):
            yield frame(dataset, [*held.values()])
            held = {}
        held[key] = before = row
    if held:
        yield frame(dataset, [*held.values()])
