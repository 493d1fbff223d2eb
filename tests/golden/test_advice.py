"""Every mark of a file that no format reads has a golden case of `advice`, and each message is short."""

from __future__ import annotations

import textwrap

import pytest

from counterflow.collectors.advice import marks
from tests.golden.cases import ADVICE, cases

GIVEN = [row.get("detail", "") for case in cases(ADVICE) for row in case.found()]
"""The details of the rejects of all cases."""


@pytest.mark.parametrize("detail", sorted(set(GIVEN)))
def test_the_message_has_three_lines_at_most(detail: str) -> None:
    assert len(textwrap.wrap(f"error: /home/user/recordings/recording.txt: {detail}", 80)) <= 3


@pytest.mark.parametrize("mark", [*marks.BINARIES, *marks.TEXTS], ids=lambda mark: mark.looks)
def test_a_mark_has_its_advice(mark: marks.Binary | marks.Text) -> None:
    assert any(f"this is {mark.looks}: {mark.way_out}" in detail for detail in GIVEN)


@pytest.mark.parametrize("name", marks.CSVS)
def test_a_similar_table_has_its_advice(name: str) -> None:
    assert any(f"a table like {name}, without " in detail for detail in GIVEN)


@pytest.mark.parametrize("way_out", [way_out for _, way_out in marks.SMF])
def test_a_dump_of_smf_has_its_advice(way_out: str) -> None:
    assert any("a dump of SMF records" in detail and way_out in detail for detail in GIVEN)
