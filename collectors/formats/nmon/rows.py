"""Numeric rows after they were read, and the row and column of a dataset that each of their values fills.

Where values go is worked out once for the sections that a snapshot has: most snapshots of a recording have the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from operator import is_
from typing import Any, NamedTuple

from counterflow.collectors.formats.nmon.headers import Cell, Layout

Values = Sequence[float | None]
Columns = dict[str, Sequence[Any]]

_DECIMALS = 1000.0
"""Amounts are kept to three decimals: no figure of a recording has more when multiplied by its interval."""


class Row(NamedTuple):
    """The values of one section in one snapshot."""

    layout: Layout
    values: Values


def amounts(values: Values, factor: float) -> Values:
    """Return values times `factor`, rounded, None for a missing one. Values and factor are not negative.

    Beside 1.5 * 2^52 a float has no fraction, so adding it and subtracting it again rounds; round() would take four
    times as long.
    """
    scale, whole = factor * _DECIMALS, 1.5 * 2**52
    return [v and (v * scale + whole - whole) / _DECIMALS for v in values]


KEYS = {
    "system_cpu": ("engine_type", "engine"),
    "pool": ("pool",),
    "link": ("link_type", "link"),
}
"""The columns that the key of a cell fills, by dataset; a counter has a row of its own."""


class ColumnPlan(NamedTuple):
    """A column: for each row of its dataset the position of its value, -1 where it has none."""

    column: str
    factor: float
    rate: bool
    positions: tuple[int, ...]


class Plan:
    """Where the values of rows with these layouts go; `values` are those that `flat` returns of the rows."""

    def __init__(self, layouts: Sequence[Layout]) -> None:
        self.layouts = layouts
        rows: dict[str, dict[tuple[str, ...], int]] = {dataset: {} for dataset in KEYS}
        places: dict[str, dict[tuple[str, float, bool, int], dict[int, int]]] = {dataset: {} for dataset in KEYS}
        counters: list[tuple[Cell, int]] = []
        for at, cell in enumerate(chain.from_iterable(layout.cells for layout in layouts)):
            if cell is None:
                continue
            if cell.dataset == "counter":
                counters.append((cell, at))
                continue
            row = rows[cell.dataset].setdefault(cell.key, len(rows[cell.dataset]))
            again = 0  # a second figure for the same place replaces the first where it is present
            while row in places[cell.dataset].setdefault((cell.column, cell.factor, cell.rate, again), {}):
                again += 1
            places[cell.dataset][cell.column, cell.factor, cell.rate, again][row] = at
        self._keys = {dataset: _columns(KEYS[dataset], list(found)) for dataset, found in rows.items()}
        self._measured = {
            dataset: [
                ColumnPlan(*found[:3], tuple(where.get(row, -1) for row in range(len(rows[dataset]))))
                for found, where in columns.items()
            ]
            for dataset, columns in places.items()
        }
        self._counter_keys = _counter_keys(cell for cell, _ in counters)
        self._counted = tuple(at for _, at in counters)

    def tables(self, values: Values, seconds: float | None) -> dict[str, Columns]:
        """Return the columns of each dataset but `counter`; rows without any figure are left out."""
        found: dict[str, Columns] = {}
        for dataset, measured in self._measured.items():
            columns: Columns = {}
            for column, factor, rate, positions in measured:
                if rate and seconds is None:
                    continue
                figures: Values = list(map(values.__getitem__, positions))
                if rate or factor != 1.0:
                    figures = amounts(figures, factor * (seconds or 0.0) if rate else factor)
                if column in columns:
                    both = zip(columns[column], figures, strict=True)
                    figures = [before if figure is None else figure for before, figure in both]
                columns[column] = figures
            found[dataset] = _with_figures(self._keys[dataset], columns)
        return found

    def counters(self, values: Values, others: Sequence[tuple[Cell, float]]) -> Columns:
        """Return the columns of `counter`, with other counters below those of the plan."""
        found = _with_figures(self._counter_keys, {"value": list(map(values.__getitem__, self._counted))})
        if others:
            more = {**_counter_keys(cell for cell, _ in others), "value": [value for _, value in others]}
            found = {name: [*found.get(name, ()), *values] for name, values in more.items()}
        return {name: found[name] for name in ("section", "instance", "counter", "value", "unit", "kind") if found}


class Plans:
    """The plan of the last snapshot: the snapshots of a recording mostly have the same sections."""

    def __init__(self) -> None:
        self._last = Plan([])

    def of(self, layouts: Sequence[Layout]) -> Plan:
        last = self._last.layouts
        if len(last) != len(layouts) or not all(map(is_, last, layouts)):
            self._last = Plan(layouts)
        return self._last


def _counter_keys(cells: Iterable[Cell]) -> Columns:
    """Return the columns beside the values of counters."""
    names = "section", "instance", "counter", "unit", "kind"
    return _columns(names, [(*cell.key, cell.column, *cell.unit) for cell in cells])


def _with_figures(keys: Columns, measured: Columns) -> Columns:
    """Return keys and columns of the rows that have a figure."""
    there = [row.count(None) < len(row) for row in zip(*measured.values(), strict=True)]
    if all(there):
        return {**keys, **measured} if there else {}
    both = {**keys, **measured}.items()
    return {name: [v for v, is_there in zip(values, there, strict=True) if is_there] for name, values in both}


def _columns(names: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> Columns:
    return {name: tuple(row[at] for row in rows) for at, name in enumerate(names)}


def flat(rows: Sequence[Row]) -> list[float | None]:
    """Return the values of all rows, and None at the end."""
    return [*chain.from_iterable(row.values for row in rows), None]
