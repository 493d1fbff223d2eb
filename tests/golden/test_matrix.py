"""Each format is read in each dress, or answered with advice, as docs/formats/index.md states."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from counterflow.cli import cli
from counterflow.collectors.formats import formats
from docs.generators.formats import examples
from tests.golden import matrix


def test_every_format_has_an_example() -> None:
    assert examples().keys() == formats().keys()


def test_every_format_is_listed_with_what_it_reads() -> None:
    listed = CliRunner().invoke(cli, ["look", "--formats"], catch_exceptions=False).output.splitlines()
    named = dict(line.split(maxsplit=1) for line in listed if not line.startswith(" "))
    assert named.keys() == formats().keys()
    assert named["nmon"].strip() == "nmon recordings of AIX, VIOS and Linux."
    assert "docs/" not in "".join(listed)


@pytest.mark.parametrize("format", formats())
def test_each_dress_is_read_or_answered_with_advice(format: str) -> None:
    found = {name: matrix.cell(format, dress) for name, dress in matrix.dresses(format).items()}
    assert found == {name: "advice" if name in ("UTF-16 without mark", "UTF-32") else "read" for name in found}
