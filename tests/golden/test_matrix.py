"""The table of docs/formats/index.md holds: each format in each dress is read, or answered with advice."""

from __future__ import annotations

import pytest

from counterflow.collectors.formats import formats
from tests.golden import matrix


def test_every_format_is_in_the_table() -> None:
    assert matrix.CASES.keys() == formats().keys()


@pytest.mark.parametrize("format", matrix.CASES)
def test_each_cell_is_as_the_page_shows(format: str) -> None:
    lines = matrix.PAGE.read_text(encoding="utf-8").splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]
    shown = {row[0]: dict(zip(rows[0][1:], row[1:], strict=True)) for row in rows[2:]}[f"[`{format}`]({format}.md)"]
    found = {name: matrix.cell(format, dress) for name, dress in matrix.dresses(format).items()}
    assert {name: value for name, value in shown.items() if value} == found
