"""Dataset definitions: a mistake is refused, and all mistakes of a file are named at once."""

from __future__ import annotations

import copy
import re
from typing import Any

import pytest
from pydantic import ValidationError

from counterflow.pipelines.jobs import Job, all_jobs
from counterflow.schemas.definition import Column, Dataset, datasets
from counterflow.schemas.mapping import counters_by_source, mappings

DISK: dict[str, Any] = {
    "dataset": "tape",
    "row": "One tape drive.",
    "role": "counter",
    "key": ["system", "drive", "ts"],
    "instance": "drive",
    "columns": {
        "drive": {"type": "String", "text": "Name."},
        "mounts": {
            "type": "Float64",
            "unit": "mounts",
            "kind": "delta",
            "null_when": "not reported",
            "text": "Mounts.",
        },
    },
}


def with_changes(**changes: Any) -> dict[str, Any]:
    return {**copy.deepcopy(DISK), **changes}


def test_a_definition_names_its_topic_and_puts_the_envelope_first() -> None:
    tape = Dataset.model_validate(DISK)
    assert tape.topic == "counterflow.tape.v2"
    assert list(tape.all_columns)[:3] == ["ts", "interval_s", "system"]
    assert list(tape.all_columns)[-2:] == ["drive", "mounts"]


def test_all_mistakes_are_named_at_once() -> None:
    wrong = with_changes(key=["ts", "drvie"], instance="mounts")
    wrong["watched"] = {"figures": {"tape_mounts_total": {"columns": ["muonts"], "text": "Mounts."}}}
    with pytest.raises(ValidationError) as caught:
        Dataset.model_validate(wrong)
    for mistake in (
        "key column `drvie` is not a column",
        "key column `mounts` may be null",
        "the key does not end with `ts`",
        "watched column `muonts` is not a column",
    ):
        assert mistake in str(caught.value)


@pytest.mark.parametrize(
    ("column", "mistake"),
    [
        ({"type": "Float64", "text": "Mounts."}, "a number needs a `unit`"),
        ({"type": "Float32", "unit": "s", "text": "Mounts."}, "Input should be"),
        ({"type": "String", "text": "Name.", "nulls": "never"}, "Extra inputs are not permitted"),
        ({"type": "String"}, "Field required"),
    ],
)
def test_a_wrong_column_is_refused(column: dict[str, Any], mistake: str) -> None:
    with pytest.raises(ValidationError, match=mistake):
        Column.model_validate(column)


def test_a_result_has_no_rollup() -> None:
    with pytest.raises(ValidationError, match="a result has no `instance`"):
        Dataset.model_validate(with_changes(role="result"))


def test_a_mapping_fills_columns_that_exist() -> None:
    for source, of_datasets in mappings().items():
        for name, counters in of_datasets.items():
            assert datasets()[name].role != "view", f"{source}: the SELECT of {name} fills its columns"
            assert counters.keys() <= datasets()[name].all_columns.keys(), (source, name)


def test_something_fills_each_column() -> None:
    for name, dataset in datasets().items():
        filled = {column for counters in counters_by_source(name, mappings()).values() for column in counters}
        assert dataset.role == "view" or dataset.columns.keys() <= filled, name


@pytest.mark.parametrize("job", all_jobs().values(), ids=lambda job: job.name)
def test_a_job_inserts_every_column_that_is_never_null(job: Job) -> None:
    inserts = re.findall(r"INSERT INTO `?(\w+)`?\s*\(([^()]*)\)", " ".join(job.statements))
    assert {name for name, _ in inserts} == job.writes
    for name, columns in inserts:
        named = {column.strip().strip("`") for column in columns.split(",")}
        never_null = {n for n, column in datasets()[name].all_columns.items() if column.null_when is None}
        assert never_null <= named <= datasets()[name].all_columns.keys(), name
