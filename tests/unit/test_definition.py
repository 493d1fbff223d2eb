"""Definitions of datasets and jobs: a mistake is refused, and what is generated of them refuses wrong records."""

from __future__ import annotations

import copy
import re
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from counterflow.base.errors import CounterflowError
from counterflow.pipelines import jobs
from counterflow.pipelines.jobs import Job, all_jobs
from counterflow.schemas.definition import Column, Dataset, datasets
from counterflow.schemas.mapping import counters_by_source, mappings
from counterflow.schemas.values import columns, members, mistakes
from tests.support.json_schema import json_schema, validator

TAPE: dict[str, Any] = {
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
    return {**copy.deepcopy(TAPE), **changes}


def test_a_definition_names_its_topic_and_puts_the_envelope_first() -> None:
    tape = Dataset.model_validate(TAPE)
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
        if dataset.role == "view":
            continue
        filled = {column for counters in counters_by_source(name, mappings()).values() for column in counters}
        assert dataset.columns.keys() - filled == set(), f"no mapping.yaml fills these columns of {name}"


def test_the_folder_of_a_job_is_whole() -> None:
    """Without `job.yaml` there is no job, without `batch.sql` `look` fails, and nothing else misses page and test."""
    for folder in {path.parent for path in jobs.FOLDER.glob("*/*.*") if path.parent.name != "__pycache__"}:
        files = {"README.md", "batch.sql", "job.yaml", "mapping.yaml", "stream.sql", f"test_{folder.name}.py"}
        job = all_jobs().get(folder.name)
        computed_in_python = {"batch.sql"} if job and job.step and not job.rule else set()
        assert files - {path.name for path in folder.iterdir()} == computed_in_python, f"files that {folder} lacks"


@pytest.mark.parametrize("job", all_jobs().values(), ids=lambda job: job.name)
def test_a_job_inserts_every_column_that_is_never_null(job: Job) -> None:
    inserts = re.findall(r"INSERT INTO `?(\w+)`?\s*\(([^()]*)\)", " ".join(job.statements))
    assert {name for name, _ in inserts} == job.writes
    for name, listed in inserts:
        named = {column.strip().strip("`") for column in listed.split(",")}
        never_null = {n for n, column in datasets()[name].all_columns.items() if column.null_when is None}
        assert never_null <= named <= datasets()[name].all_columns.keys(), name


ROW: dict[str, Any] = {
    "ts": "2026-11-20T10:00:00Z",
    "interval_s": 15,
    "system": "lpar1",
    "source": "nmon",
    "agent_id": "a",
    "seq": 1,
    "collected_at": "2026-11-20T10:00:01.250Z",
    "disk": "hdisk0",
    "device_type": "disk",
    "leaf": True,
    "busy_pct": 12.5,
}
DISK = validator(datasets()["disk"])
CHECK = members() | columns("disk")


@pytest.mark.parametrize(
    "change", [{}, {"busy_pct": 12}, {"seq": 2**63 - 1}, {"ts": "2026-11-20T10:00:00.123Z"}, {"run": "baseline"}]
)
def test_a_valid_record_is_accepted(change: dict[str, Any]) -> None:
    DISK.validate({**ROW, **change})
    assert list(mistakes({**ROW, **change}, CHECK)) == []


@pytest.mark.parametrize(
    "change",
    [
        {"ts": None},
        {"ts": 1763632800},
        {"ts": 1763632800123},
        {"ts": "1763632800.5"},
        {"ts": "2026-11-20 10:00:00"},
        {"ts": "2026-11-20T10:00:00+02:00"},
        {"ts": "2026-11-20T10:00:00.123456Z"},
        {"ts": "2026-02-30T10:00:00Z"},
        {"ts": "1999-12-31T23:59:59Z"},
        {"busy_pct": float("nan")},
        {"busy_pct": float("inf")},
        {"busy_pct": "12"},
        {"busy_pct": True},
        {"seq": -1},
        {"seq": 1.5},
        {"seq": 2**63},
        {"leaf": 1},
        {"device_type": "tape"},
        {"disk": 0},
        {"bussy_pct": 1},
    ],
)
def test_what_clickhouse_would_read_wrongly_is_refused(change: dict[str, Any]) -> None:
    assert not DISK.is_valid({**ROW, **change})
    (mistake,) = mistakes({**ROW, **change}, CHECK)
    assert mistake.startswith(next(iter(change)))


@pytest.mark.parametrize("missing", ["ts", "system", "seq", "agent_id", "collected_at", "disk", "leaf"])
def test_what_is_never_null_is_required(missing: str) -> None:
    row = {name: value for name, value in ROW.items() if name != missing}
    assert not DISK.is_valid(row)
    assert list(mistakes(row, CHECK)) == [f"{missing}: is missing, which every row needs"]


@pytest.mark.parametrize("name", datasets())
def test_every_dataset_has_a_valid_closed_schema(name: str) -> None:
    schema = json_schema(datasets()[name])
    validator(datasets()[name])
    assert schema["additionalProperties"] is False
    assert "ts" in schema["required"]


def test_a_job_names_every_dataset_and_column_that_it_states() -> None:
    for name, job in all_jobs().items():
        statements = " ".join(job.statements)
        assert [dataset for dataset in (*job.reads, *job.writes) if not re.search(rf"\b{dataset}\b", statements)] == []
        for dataset, read in job.reads.items():
            text = f"{statements} {read.rows} {read.where}"
            unused = [column for column in read.columns if not re.search(rf"\b{column}\b", text)]
            assert unused == [], (name, dataset)


def test_a_job_that_no_table_can_feed_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "FOLDER", tmp_path)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/stream.sql").write_text("")
    reads = "{job: {columns: [cpu]}, link: {distinct: true, columns: [link_type]}}"
    for named, mistakes_of in {
        f"of: pol, reads: {reads}, writes: [io_mxi]": "there is no dataset `io_mxi`, `pol` in schemas/datasets/",
        f"of: job, reads: {reads}, writes: [io_mix]": "reads.job: `job` has no column `cpu`; "
        "reads.link: `distinct` needs a key of one column, not of link_type and link: count rows as log_load does",
    }.items():
        (tmp_path / "mine/job.yaml").write_text("{" + named + "}")
        with pytest.raises(CounterflowError, match=f"mine/job.yaml: {re.escape(mistakes_of)}"):
            all_jobs.__wrapped__()
