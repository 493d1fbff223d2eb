"""Which datasets a table fills, with the columns that it has: each column's expression, and the rows that it is for."""

from __future__ import annotations

import ast
from collections.abc import Container, Mapping, Sequence
from itertools import chain, compress
from typing import NamedTuple

from counterflow.collectors.formats.ibmi_tables.description import Description, FilledRows
from counterflow.collectors.formats.ibmi_tables.expression import Column, Columns, fields, is_known, parsed
from counterflow.schemas.definition import datasets


class Part(NamedTuple):
    """One row of a dataset for each row of the table in which `when` is neither 0 nor null.

    `values` are in the order of the dataset's columns, None for a column that this part does not fill. `fields` are
    those of which they are computed.
    """

    values: tuple[ast.expr | None, ...]
    when: ast.expr | None
    fields: tuple[str, ...]


class Filling(NamedTuple):
    """The columns of a dataset that a table fills, and those that every row needs."""

    names: tuple[str, ...]
    required: tuple[str, ...]
    parts: tuple[Part, ...]

    def of(self, columns: Columns) -> tuple[Sequence[int], dict[str, Column]]:
        """Return the number of the row that each row of the dataset comes from, and its columns."""
        found = [_filled(part, columns) for part in self.parts]
        if len(found) == 1:
            ((places, values),) = found
            return places, dict(zip(self.names, values, strict=True))
        places = [place for each, _ in found for place in each]
        order = sorted(range(len(places)), key=places.__getitem__)
        joined = [list(chain.from_iterable(each)) for each in zip(*(values for _, values in found), strict=True)]
        return [places[at] for at in order], {
            name: [values[at] for at in order] for name, values in zip(self.names, joined, strict=True)
        }


def fillings(
    table: Description, present: Container[str], sites: Mapping[str, str], used: set[str]
) -> dict[str, Filling]:
    """Return what the table fills, by dataset; add to `used` the fields that occur."""
    found: dict[str, list[tuple[dict[str, ast.expr], ast.expr | None]]] = {}
    for filled in table.records:
        for n in range(filled.repeat[0], filled.repeat[1] + 1) if filled.repeat else (0,):
            record = _record(filled, n, present, sites, used)
            if record is not None:
                found.setdefault(filled.dataset, []).append(record)
    return {dataset: _filling(dataset, records) for dataset, records in found.items()}


def _filling(dataset: str, records: list[tuple[dict[str, ast.expr], ast.expr | None]]) -> Filling:
    filled = {name for values, _ in records for name in values}
    names = tuple(name for name in datasets()[dataset].columns if name in filled)
    parts = tuple(
        Part(
            tuple(map(values.get, names)),
            when,
            tuple(dict.fromkeys(field for value in values.values() for field in fields(value))),
        )
        for values, when in records
    )
    return Filling(names, _required(dataset), parts)


def _filled(part: Part, columns: Columns) -> tuple[Sequence[int], list[Column]]:
    """Return the rows that become rows of the dataset, and their values."""
    places: Sequence[int] = range(columns.rows)
    if part.when is not None:
        kept = [bool(value) for value in columns.of(part.when)]
        if not all(kept):
            places, columns = list(compress(places, kept)), columns.where(kept, part.fields)
    return places, [[None] * columns.rows if value is None else columns.of(value) for value in part.values]


def _required(dataset: str) -> tuple[str, ...]:
    return tuple(name for name, column in datasets()[dataset].columns.items() if column.null_when is None)


def _record(
    filled: FilledRows, n: int, present: Container[str], sites: Mapping[str, str], used: set[str]
) -> tuple[dict[str, ast.expr], ast.expr | None] | None:
    """Return the values by column, and the condition; None where a column that every row needs is absent."""
    values = {}
    for name, expression in filled.columns.items():
        node = parsed(_numbered(str(expression), n))
        used.update(fields(node))
        if is_known(node, present):
            values[name] = node
    for name, column in sites.items():
        if name in datasets()[filled.dataset].columns and column in present:
            values[name] = ast.Name(column)
    if not values.keys() >= {*_required(filled.dataset)}:
        return None  # the columns of this dataset came with a later release
    if filled.when is None:
        return values, None
    when = parsed(_numbered(filled.when, n))
    used.update(fields(when))
    return values, when


def _numbered(expression: str, n: int) -> str:
    return expression.replace("{nn}", f"{n:02}").replace("{n}", str(n))
