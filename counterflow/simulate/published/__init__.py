"""Tables of the document as they are printed, thousands separators left out."""

from __future__ import annotations

import csv
from pathlib import Path

Row = dict[str, str]


def table(name: str) -> list[Row]:
    """Return the rows of `table_7_1` and its like; a cell that is empty or `N/A` in the document is left out."""
    with Path(__file__).with_name(f"{name}.csv").open(encoding="utf-8", newline="") as stream:
        return [{column: cell for column, cell in row.items() if cell} for row in csv.DictReader(stream)]


def cells(row: Row, *columns: str) -> Row:
    """Return the printed figures of those columns that the row has."""
    return {column: row[column] for column in columns if column in row}
