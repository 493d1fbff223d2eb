"""Every golden case gives the records and rejects that were reviewed."""

from __future__ import annotations

import json

import pytest

from counterflow.collectors.formats import formats
from tests.golden.cases import FOLDER, Case, cases


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.name)
def test_case(case: Case) -> None:
    for name, found in case.results().items():
        expected = (case.folder / name).read_text(encoding="utf-8")
        # line by line, so that a failure shows the first row that differs and not a wall of text
        for at, (one, other) in enumerate(zip(found.split("\n"), expected.split("\n"), strict=False), 1):
            assert not one or json.loads(one) == json.loads(other or "null"), f"{case.name}/{name} line {at}"
        assert found.count("\n") == expected.count("\n"), f"{case.name}/{name}"


def test_every_format_has_cases() -> None:
    assert {case.folder.parent.name for case in cases()} == set(formats())


def test_every_folder_is_a_case() -> None:
    folders = {path for path in FOLDER.glob("*/*") if path.is_dir() and path.name != "__pycache__"}
    assert {case.folder for case in cases()} == folders
