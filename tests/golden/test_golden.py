"""Every golden case gives the records and rejects that were reviewed."""

from __future__ import annotations

import io
from itertools import zip_longest
from zoneinfo import ZoneInfo

import pytest
import yaml

from counterflow.collectors.formats import formats
from counterflow.collectors.records import Context, Position, Reason, Reject
from tests.golden.cases import FOLDER, UNRECOGNISED, Case, cases, frames


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.name)
def test_case(case: Case) -> None:
    found, expected = frames(case.found()), frames(case.expected)
    for frame in expected | found:
        # row by row, so that a failure shows the first difference, not a wall of text
        for at, rows in enumerate(zip_longest(found.get(frame, ()), expected.get(frame, ())), 1):
            assert rows[0] == rows[1], f"{case.file}: {frame}, row {at}"


def test_every_format_has_cases() -> None:
    assert {case.folder.parent.name for case in cases()} == {*formats(), UNRECOGNISED}


@pytest.mark.parametrize("format", formats())
def test_a_file_without_content_is_refused_as_such(format: str) -> None:
    items = formats()[format].parse(io.BytesIO(), Context("input", ZoneInfo("UTC"), "SYSA"))
    (found,) = [item for item in items if not isinstance(item, Position)]
    assert isinstance(found, Reject)
    assert (found.reason, found.kept, found.line) == (Reason.EMPTY_FILE, "none", 0)


def test_every_case_has_an_input_no_file_is_empty_and_every_context_has_its_case() -> None:
    assert [case.name for case in cases() if not case.input.is_file()] == []
    assert [path for path in FOLDER.glob("*/*/expected.jsonl") if not path.stat().st_size] == []
    contexts = {path.parent.name: yaml.safe_load(path.read_text()) for path in FOLDER.glob("*/context.yaml")}
    named = {f"{name}/{case}" for name, context in contexts.items() for case in context.get("cases", {})}
    assert named - {case.name for case in cases()} == set()
