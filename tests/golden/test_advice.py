"""Every sentence that `collectors.advice` can give is given by a golden case of `advice`."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Iterator

import pytest

from counterflow.collectors import advice
from counterflow.collectors.advice import marks
from tests.golden.cases import ADVICE, cases

GIVEN = [row.get("detail", "") for case in cases(ADVICE) for row in case.found()]
"""The details of the rejects of all cases."""


def sentences() -> Iterator[str]:
    """Yield the parts of sentences in the functions of the module: constants that stand for themselves."""
    for function in ast.walk(ast.parse(inspect.getsource(advice))):
        if not isinstance(function, ast.FunctionDef):
            continue
        docstring = function.body[0].value if isinstance(function.body[0], ast.Expr) else None
        for node in ast.walk(function):
            text = node.value if isinstance(node, ast.Constant) and node is not docstring else None
            if isinstance(text, str) and len(text) > 12 and " " in text and re.search("[a-z]", text):
                yield text


@pytest.mark.parametrize("detail", sorted(set(GIVEN)))
def test_the_message_has_three_lines_at_most(detail: str) -> None:
    assert len(textwrap.wrap(f"error: /home/user/recordings/recording.txt: {detail}", 80)) <= 3


@pytest.mark.parametrize("sentence", sorted(set(sentences())))
def test_a_sentence_is_given(sentence: str) -> None:
    assert any(sentence in detail for detail in GIVEN)


@pytest.mark.parametrize("mark", [*marks.BINARIES, *marks.TEXTS], ids=lambda mark: mark.looks)
def test_a_mark_has_its_advice(mark: marks.Binary | marks.Text) -> None:
    assert any(f"this is {mark.looks}: {mark.way_out}" in detail for detail in GIVEN)


@pytest.mark.parametrize("name", marks.CSVS)
def test_a_similar_table_has_its_advice(name: str) -> None:
    assert any(f"a table like {name}, without " in detail for detail in GIVEN)


@pytest.mark.parametrize("way_out", [way_out for _, way_out in marks.SMF])
def test_a_dump_of_smf_has_its_advice(way_out: str) -> None:
    assert any("a dump of SMF records" in detail and way_out in detail for detail in GIVEN)
