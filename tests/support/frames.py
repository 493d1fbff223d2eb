"""Records as agents publish them: in frames."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from counterflow.schemas.definition import datasets, envelope

Row = dict[str, Any]


def frame(dataset: str, rows: Sequence[Row]) -> Row:
    """The frame of rows that share their envelope; `seq`, where they have one, is that of the first."""
    own = datasets()[dataset].columns
    there = {name for row in rows for name, value in row.items() if value is not None}
    shared = {name: value for name, value in rows[0].items() if name not in own and value is not None}
    columns = {name: [row.get(name) for row in rows] for name in own if name in there}
    return {**shared, "frame_rows": len(rows), **columns}


def frames(dataset: str, rows: Iterable[Row]) -> Iterator[Row]:
    """Frames of rows that follow each other with the same envelope, in their order, no entity twice in one."""
    entity = [name for name in datasets()[dataset].key if name in datasets()[dataset].columns]
    shared = [name for name in envelope("counter") if name != "seq"]
    held: list[Row] = []
    for row in rows:
        together = held and all(row.get(name) == held[0].get(name) for name in shared)
        if held and not (together and _key(row, entity) not in {_key(other, entity) for other in held}):
            yield frame(dataset, held)
            held = []
        held.append(row)
    if held:
        yield frame(dataset, held)


def _key(row: Row, entity: Sequence[str]) -> tuple[Any, ...]:
    return tuple(row.get(name) for name in entity)
