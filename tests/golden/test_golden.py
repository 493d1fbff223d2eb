"""Every golden case gives the records and rejects that were reviewed."""

from __future__ import annotations

import io
from itertools import zip_longest
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from counterflow.collectors.formats import formats
from counterflow.collectors.records import Context, Position, Reason, Reject
from counterflow.schemas import agreement
from counterflow.schemas.definition import datasets
from tests.golden.cases import FOLDER, UNRECOGNISED, Case, cases, frames, read, write


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.name)
def test_case(case: Case) -> None:
    found, expected = frames(case.found()), frames(case.expected)
    for frame in expected | found:
        # row by row, so that a failure shows the first difference, not a wall of text
        for at, rows in enumerate(zip_longest(found.get(frame, ()), expected.get(frame, ())), 1):
            assert rows[0] == rows[1], f"{case.file}: {case.name}: {frame}, row {at}"


def test_every_format_has_cases() -> None:
    assert {case.format for case in cases()} == {*formats(), UNRECOGNISED}


@pytest.mark.parametrize("format", formats())
def test_a_file_without_content_is_refused_as_such(format: str) -> None:
    items = formats()[format].parse(io.BytesIO(), Context("input", ZoneInfo("UTC"), "SYSA"))
    (found,) = [item for item in items if not isinstance(item, Position)]
    assert isinstance(found, Reject)
    assert (found.reason, found.kept, found.line) == (Reason.EMPTY_FILE, "none", 0)


def test_every_file_beside_the_cases_is_of_a_case() -> None:
    named = {case.file.with_name(f"{case.name.partition('/')[2]}.{file}") for case in cases() for file in case.files}
    assert {path for path in FOLDER.glob("*/*") if path.is_file() and path.suffix != ".case"} - named == set()


def test_what_is_expected_agrees_with_the_definitions() -> None:
    for case in cases():
        records = [(row["dataset"], row["fields"]) for row in case.expected if "fields" in row]
        assert agreement.records(case.name, records, datasets()) == []


VALUES = [
    None,
    True,
    False,
    0,
    -1,
    1.0,
    1e300,
    2**63,
    "",
    "-",
    "null",
    "1",
    "1e5",
    "-0",
    "a b",
    " a",
    'say "no"',
    '"',
    "a=b",
]
TEXTS = [
    "{",
    "[1]",
    "\\",
    "\t",
    "\r\n",
    "\x00\x7f\x85",
    "\u2028",
    "\ufeff",
    "é 漢",
    "== x",
    "----",
    [1, "a b"],
    {"a": None},
]


@pytest.mark.parametrize("value", [*VALUES, *TEXTS], ids=repr)
def test_a_value_is_read_as_it_was_written(value: object, tmp_path: Path) -> None:
    def row(**fields: object) -> dict[str, object]:
        return {"dataset": "disk", "fields": {"disk": "a", **fields}}

    rejects = [{"reason": "unknown_line", "detail": value}, {"reason": "unknown_line", "raw": "x"}]
    alone, differing, sparse = [row(of=value)], [row(of=value), row(of=17)], [row(of=value, then=value), row(then=3)]
    file = tmp_path / "all.case"
    text = "== one\n-- input --\n----\n\n== two\n-- input (CRLF) --\na\n----\n\n== three\n-- input --\n\n----\n"
    file.write_text(text)
    for rows in ([*alone, *rejects], differing, sparse, [*alone, *alone], []):
        for case in read(file):
            write(case, rows)
        again = read(file)
        assert [repr(case.expected) for case in again] == [repr(rows)] * 3
        assert [case.input for case in again] == [b"", b"a\r\n", b"\n"]
