"""What is generated from the definitions, and the errors when something disagrees with them."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from counterflow.base.errors import CounterflowError
from counterflow.cli import cli
from counterflow.schemas import agreement, artefacts
from counterflow.schemas.definition import datasets
from counterflow.schemas.migrations import Migration, migrations

DISK, COUNTER, CPU = (datasets()[name] for name in ("disk", "counter", "job_cpu"))


def test_stale_and_missing_files_are_named_and_written_again(tmp_path: Path) -> None:
    files = artefacts.artefacts()
    artefacts.generate(files, tmp_path)
    assert artefacts.stale(files, tmp_path) == []
    (tmp_path / "schemas/clickhouse/baseline/1_counters.sql").write_text("edited by hand")
    (tmp_path / "schemas/clickhouse/baseline/2_results.sql").unlink()
    wrong = ["schemas/clickhouse/baseline/1_counters.sql", "schemas/clickhouse/baseline/2_results.sql"]
    assert artefacts.stale(files, tmp_path) == wrong
    assert artefacts.generate(files, tmp_path) == wrong
    assert artefacts.stale(files, tmp_path) == []


@pytest.mark.parametrize(
    ("form", "begins"),
    [("clickhouse", "CREATE TABLE IF NOT EXISTS counterflow.disk"), ("flink", "CREATE "), ("json-schema", "{")],
)
def test_a_dataset_is_shown_in_each_form(form: str, begins: str) -> None:
    shown = CliRunner().invoke(cli, ["schemas", "show", "disk", "--as", form], catch_exceptions=False)
    assert begins in shown.output
    assert "read_kb" in shown.output


def test_records_that_break_their_schema_are_all_named() -> None:
    good = {"ts": "2026-01-01T00:00:00Z", "system": "s", "source": "nmon", "pool": "memory"}
    found = agreement.records(
        "case",
        [("pool", good), ("pool", {**good, "size_mb": "12", "colour": 1}), ("tape", {})],
        datasets(),
    )
    assert len(found) == 3
    assert any("pool.size_mb" in mistake for mistake in found)
    assert any("colour" in mistake for mistake in found)
    assert "case: dataset `tape` has no definition" in found


def test_inserts_of_a_job_are_compared_with_its_dataset() -> None:
    sql = """
    -- INSERT INTO nowhere SELECT 1
    INSERT INTO io_mix (ts, `system`, n, name, groupnig) SELECT 1;
    INSERT INTO tape (ts) SELECT 1; INSERT INTO link_load SELECT 1
    """
    assert list(agreement.inserts("query.sql", sql, datasets())) == [
        "query.sql: io_mix has no column `groupnig`",
        "query.sql: io_mix.grouping is never null, but not inserted",
        "query.sql: INSERT INTO tape: no definition has it",
        "query.sql: INSERT INTO link_load: names no columns",
    ]


def test_statements_are_split_outside_text_and_comments() -> None:
    text = "-- one; not two\nCREATE TABLE a {on_cluster} (x String COMMENT 'it\\'s; fine');\n\nSELECT 1 - 2; -- end\n"
    first, second = Migration("0001_a", text).statements()
    assert first.endswith("(x String COMMENT 'it\\'s; fine')")
    assert second == "SELECT 1 - 2"
    assert "ON CLUSTER 'main'" in Migration("0001_a", text).statements("main")[0]


def test_migrations_have_numbers_of_their_own(tmp_path: Path) -> None:
    for name in ("0001_a.sql", "0002_b.sql", "0002_c.sql", "late.sql"):
        (tmp_path / name).write_text("SELECT 1")
    with pytest.raises(CounterflowError, match=r"0002_b\.sql, 0002_c\.sql, late\.sql") as caught:
        migrations(tmp_path)
    assert "0003" in str(caught.value.hint)
