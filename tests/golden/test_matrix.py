"""The table of docs/formats/index.md holds: each format in each dress is read, or answered with advice."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from counterflow.cli import cli
from counterflow.collectors.formats import formats
from tests.golden import matrix


def test_every_format_is_in_the_table() -> None:
    assert matrix.CASES.keys() == formats().keys()


def test_every_format_is_listed_with_what_it_reads() -> None:
    listed = CliRunner().invoke(cli, ["parse", "--formats"], catch_exceptions=False).output.splitlines()
    named = dict(line.split(maxsplit=1) for line in listed if not line.startswith(" "))
    assert named.keys() == formats().keys()
    assert named["nmon"].strip() == "nmon recordings of AIX, VIOS and Linux."
    assert "docs/" not in "".join(listed)


def test_the_exports_of_each_trade_are_answered_as_the_page_shows() -> None:
    assert matrix.exports() in matrix.PAGE.read_text(encoding="utf-8")


def test_each_trade_has_five_exports() -> None:
    assert {trade: len(exports) for trade, exports in matrix.EXPORTS.items() if len(exports) < 5} == {}


@pytest.mark.parametrize("format", matrix.CASES)
def test_each_cell_is_as_the_page_shows(format: str) -> None:
    page = matrix.PAGE.read_text(encoding="utf-8")
    lines = page.partition("<!-- matrix -->")[2].partition("<!-- end -->")[0].splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]
    shown = {row[0]: dict(zip(rows[0][1:], row[1:], strict=True)) for row in rows[2:]}[f"[`{format}`]({format}.md)"]
    found = {name: matrix.cell(format, dress) for name, dress in matrix.dresses(format).items()}
    assert {name: value for name, value in shown.items() if value} == found
