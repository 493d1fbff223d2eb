"""Rows of a query as a table on the terminal."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Any, Literal

from rich.console import Console, ConsoleOptions, Group, RenderResult
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from counterflow.base.inert import inert

WIDTH_OF_A_PIPE = 140


def console(*, stderr: bool = False, soft_wrap: bool = False) -> Console:
    """Return a console; a pipe or a file gets the width of a table with many columns."""
    # Without colours, rich would still write bold and dim as escape sequences.
    colours: Literal["auto"] | None = None if os.environ.get("NO_COLOR") else "auto"
    out = Console(stderr=stderr, highlight=False, soft_wrap=soft_wrap, color_system=colours)
    if not out.is_terminal:
        out.width = WIDTH_OF_A_PIPE
    return out


class Rows:
    """Rows to print: as a table where every column fits, if need be with folded texts; else as one block per row.

    Parameters
    ----------
    folded : whether texts may take several lines so that the table fits.
    """

    def __init__(self, names: Sequence[str], rows: Sequence[Sequence[Any]], *, folded: bool = True) -> None:
        """Each row has one value per name."""
        self._names, self._rows, self._folded = names, rows, folded
        self._table = _table(names, rows)

    def width(self, out: Console) -> int:
        """Return the least width at which the table has all of its columns."""
        measured = Measurement.get(out, out.options.update(width=sys.maxsize), self._table)
        return measured.minimum if self._folded else measured.maximum

    def __rich_console__(self, out: Console, options: ConsoleOptions) -> RenderResult:
        if self.width(out) <= options.max_width:
            yield self._table
            return
        labels = [f"{_cell(name)}:" for name in self._names]
        longest = max(map(len, labels))
        for number, row in enumerate(self._rows, 1):
            lines = (f"{label:{longest}} {_cell(value)}" for label, value in zip(labels, row, strict=True))
            yield Text(f"row {number:,}", "dim")
            yield Text("\n".join(lines), overflow="fold", no_wrap=False)


def table(rows: Sequence[dict[str, Any]], title: str = "") -> Group | Rows:
    """Return `rows` as a table: numbers right-aligned, a missing figure as a dash, no cell interpreted as markup."""
    names = list(rows[0]) if rows else []
    out = Rows(names, [[row[name] for name in names] for row in rows])
    return Group(Text(_cell(title), "bold"), out) if title else out


def show(out: Console, names: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Print rows with all their columns, each on one line; in a pipe every table fits."""
    made = Rows(names, rows, folded=False)
    if not out.is_terminal:
        out.width = max(out.width, made.width(out))
    out.print(made, soft_wrap=True)


def _table(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> Table:
    out = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    for place, name in enumerate(names):
        values = [row[place] for row in rows]
        numeric = any(isinstance(value, int | float) for value in values)
        out.add_column(
            Text(_cell(name)),
            justify="right" if numeric else "left",
            no_wrap=numeric,
            min_width=min(max(len(line) for value in values for line in _cell(value).split("\n")), 14),
            overflow="fold",
        )
    for row in rows:
        out.add_row(*(Text(_cell(value)) for value in row))
    return out


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, int | float) and not isinstance(value, bool):
        return f"{value:,}"
    return inert(str(value), keep="\n\t")
