"""Every golden case gives the records and rejects that were reviewed."""

from __future__ import annotations

import json

import pytest

from counterflow.collectors.formats import formats
from tests.golden.cases import FOLDER, Case, cases


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.name)
def test_case(case: Case) -> None:
    for name, found in case.results().items():
        expected = case.expected(name)
        # line by line, so that a failure shows the first row that differs and not a wall of text
        for at, (one, other) in enumerate(zip(found.split("\n"), expected.split("\n"), strict=False), 1):
            assert not one or json.loads(one) == json.loads(other or "null"), f"{case.name}/{name} line {at}"
        assert found.count("\n") == expected.count("\n"), f"{case.name}/{name}"


def test_every_format_has_cases() -> None:
    assert {case.folder.parent.name for case in cases()} == set(formats())


def test_every_case_has_an_input_and_no_file_is_empty() -> None:
    assert [case.name for case in cases() if not case.input.is_file()] == []
    expected = [path for name in ("expected.jsonl", "rejects.jsonl") for path in FOLDER.glob(f"*/*/{name}")]
    assert [path for path in expected if not path.stat().st_size] == []
