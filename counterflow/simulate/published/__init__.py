"""Tables of the document as printed, without thousands separators."""

from __future__ import annotations

import csv
from pathlib import Path

Row = dict[str, str]


def table(name: str) -> list[Row]:
    """Return the rows of a table such as `table_7_1`; cells that are empty or `N/A` in the document are left out."""
    with Path(__file__).with_name(f"{name}.csv").open(encoding="utf-8", newline="") as stream:
        return [{column: cell for column, cell in row.items() if cell} for row in csv.DictReader(stream)]
