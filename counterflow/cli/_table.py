"""Rows of a query as a table on the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from counterflow.base.inert import inert

WIDTH_OF_A_PIPE = 140


def console(*, stderr: bool = False, soft_wrap: bool = False) -> Console:
    """Return a console; a pipe or a file gets the width of a table with many columns."""
    out = Console(stderr=stderr, highlight=False, soft_wrap=soft_wrap)
    if not out.is_terminal:
        out.width = WIDTH_OF_A_PIPE
    return out


def table(rows: Sequence[dict[str, Any]], title: str = "") -> Group | Table:
    """Return `rows` as a table: numbers right-aligned, a missing figure as a dash, no cell interpreted as markup."""
    out = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    columns = list(rows[0]) if rows else []
    for name in columns:
        numeric = any(isinstance(row[name], int | float) for row in rows)
        widest = max(len(_cell(row[name])) for row in rows)
        out.add_column(
            Text(_cell(name)),
            justify="right" if numeric else "left",
            no_wrap=numeric,
            min_width=min(widest, 14),
            overflow="fold",
        )
    for row in rows:
        out.add_row(*(Text(_cell(row[name])) for name in columns))
    return Group(Text(_cell(title), "bold"), out) if title else out


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, int | float) and not isinstance(value, bool):
        return f"{value:,}"
    return inert(str(value), keep="\n\t")
