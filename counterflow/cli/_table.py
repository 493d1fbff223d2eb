"""Rows of a query as a table on the terminal."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Any, Literal

from rich.console import Console, Group
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


def table(rows: Sequence[dict[str, Any]], title: str = "") -> Group | Table:
    """Return `rows` as a table: numbers right-aligned, a missing figure as a dash, no cell interpreted as markup."""
    names = list(rows[0]) if rows else []
    out = _table(names, [[row[name] for name in names] for row in rows])
    return Group(Text(_cell(title), "bold"), out) if title else out


def show(out: Console, names: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Print rows with all their columns: as a table where it fits, else a block a row; in a pipe every table fits."""
    made = _table(names, rows)
    width = Measurement.get(out, out.options.update(width=sys.maxsize), made).maximum
    if not out.is_terminal:
        out.width = max(out.width, width)
    if width <= out.width:
        out.print(made)
        return
    labels = [f"{_cell(name)}:" for name in names]
    longest = max(map(len, labels))
    for number, row in enumerate(rows, 1):
        lines = (f"{label:{longest}} {_cell(value)}" for label, value in zip(labels, row, strict=True))
        out.print(Text(f"row {number:,}", "dim"), Text("\n".join(lines)), sep="\n", soft_wrap=True)


def _table(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> Table:
    out = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for place, name in enumerate(names):
        values = [row[place] for row in rows]
        numeric = any(isinstance(value, int | float) for value in values)
        out.add_column(
            Text(_cell(name)),
            justify="right" if numeric else "left",
            no_wrap=numeric,
            min_width=min(max(len(_cell(value)) for value in values), 14),
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
