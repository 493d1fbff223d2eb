"""Every golden case gives the records and rejects that were reviewed."""

from __future__ import annotations

import io
from itertools import zip_longest
from zoneinfo import ZoneInfo

import pytest

from counterflow.collectors.formats import formats, recognise
from counterflow.collectors.reading import HEAD_BYTES
from counterflow.collectors.records import Context, Position, Reason, Reject
from counterflow.schemas.definition import datasets
from counterflow.schemas.mapping import mappings
from tests.faults.table import faults
from tests.golden.cases import FOLDERS, Case, Row, cases, shown
from tests.support.json_schema import validator


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.name)
def test_case(case: Case) -> None:
    # line by line, so that a failure shows the first difference, not a wall of text
    for at, (found, expected) in enumerate(zip_longest(shown(case.found(), case.input), case.expected), 1):
        assert found == expected, f"{case.file}: {case.name}: line {at}"


NAME_OR_SETTINGS_DECIDE = {
    *("db2_log_csv/no_header", "ibmi_tables/json_of_mapepire", "ibmi_tables/qapmsm_introspected"),
    *("ibmi_tables/workbook", "site/bad_no_site", "wrkdsksts/columns_run_together_in_every_line"),
}
"""Cases whose content alone shows no format."""


@pytest.mark.parametrize("format", formats())
def test_a_format_recognises_what_it_reads(format: str) -> None:
    read_cases = [case for case in cases(format) if any("fields" in row for row in case.found())]
    unknown = {case.name for case in read_cases if recognise(case.input[:HEAD_BYTES]) is not formats()[format]}
    assert unknown == {name for name in NAME_OR_SETTINGS_DECIDE if name.startswith(f"{format}/")}


@pytest.mark.parametrize(
    "head", [b"", b"\n\n", b"sep=,\n", b",,,\n", b"\x00" * 500, b"<html>", b"AAA batteries, four", b'{"samples": []}']
)
def test_no_format_recognises_anything_else(head: bytes) -> None:
    assert recognise(head) is None


def test_the_cases_that_prove_what_a_fault_does_exist() -> None:
    ids = {f"tests/golden/test_golden.py::test_case[{case.name}]" for case in cases()}
    assert {test for fault in faults() for test in fault.tests if "/test_golden.py::" in test} <= ids


@pytest.mark.parametrize("format", formats())
def test_a_file_without_content_is_refused_as_such(format: str) -> None:
    items = formats()[format].parse(io.BytesIO(), Context("input", ZoneInfo("UTC"), "SYSA"))
    (found,) = [item for item in items if not isinstance(item, Position)]
    assert isinstance(found, Reject)
    assert (found.reason, found.kept, found.line) == (Reason.EMPTY_FILE, "none", 0)


def test_every_file_beside_the_cases_is_of_a_case() -> None:
    named = {case.file.with_name(f"{case.name.partition('/')[2]}.{file}") for case in cases() for file in case.files}
    assert {
        path for folder in FOLDERS for path in folder.glob("*") if path.is_file() and path.suffix != ".case"
    } - named == set()


def test_what_is_expected_agrees_with_the_definitions() -> None:
    validators = {name: validator(dataset) for name, dataset in datasets().items()}
    of_the_agent = {"agent_id": "check", "seq": 1, "collected_at": "2026-01-01T00:00:00Z"}
    for case in cases():
        for row in case.found():
            if "fields" in row:
                mistakes = validators[row["dataset"]].iter_errors(row["fields"] | of_the_agent)
                assert [(case.name, row, mistake.message) for mistake in mistakes] == []


SITE_NAMES_COLUMNS = ("omegamon_jsonl",)
"""Formats that also fill the columns which a site names."""


@pytest.mark.parametrize("format", sorted({*formats()} - {*SITE_NAMES_COLUMNS}))
def test_the_mapping_of_a_format_names_every_column_that_its_cases_fill(format: str) -> None:
    sources = (mappings()[format], mappings()["agent"])  # the agent's has the manifest
    named = {(dataset, column) for of in sources for dataset, columns in of.items() for column in columns}
    filled = {
        (row["dataset"], column)
        for case in cases(format)
        for row in case.found()
        for column, value in row.get("fields", {}).items()
        if value is not None and column in datasets()[row["dataset"]].columns
    }
    assert filled - named == set()


@pytest.mark.parametrize("dataset", ["disk", "config"], ids=["in a table", "beside its name"])
def test_no_two_values_are_shown_alike(dataset: str) -> None:
    values = (None, True, "true", 1, 1.0, "1", "1.0", -1e3, "-1e3", "-", "null", "", "a", "a b", '"a"', '"', "[1]", [1])
    fields: list[Row] = [{"name": "n"}, *({"name": "n", "value": value} for value in values)]
    found = [
        shown([{"dataset": dataset, "fields": one} for one in (each, {"name": "m", "value": 7})], b"")
        for each in fields
    ]
    assert len(set(map(tuple, found))) == len(fields)
