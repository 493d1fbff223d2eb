"""What is generated from the definitions, and the errors when something disagrees with them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from counterflow.analysis.culprit import QUIET
from counterflow.base.errors import CounterflowError
from counterflow.pipelines.rules import rules
from counterflow.schemas import agreement
from counterflow.schemas.definition import datasets
from counterflow.schemas.migrations import Schema, Script, migrations, schema

DISK, COUNTER, CPU = (datasets()[name] for name in ("disk", "counter", "job_cpu"))


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
    first, second = Script("0001_a", text).statements()
    assert first.endswith("(x String COMMENT 'it\\'s; fine')")
    assert second == "SELECT 1 - 2"
    assert "ON CLUSTER 'main'" in Script("0001_a", text).statements("main")[0]


def test_migrations_have_numbers_of_their_own(tmp_path: Path) -> None:
    for name in ("0001_a.sql", "0002_b.sql", "0002_c.sql", "late.sql"):
        (tmp_path / name).write_text("SELECT 1")
    with pytest.raises(CounterflowError, match=r"0002_b\.sql, 0002_c\.sql, late\.sql") as caught:
        migrations(tmp_path)
    assert "0003" in str(caught.value.hint)


def test_a_migration_states_from_which_tables_it_leads_on(tmp_path: Path) -> None:
    (tmp_path / "0001_a.sql").write_text("SELECT 1")
    with pytest.raises(CounterflowError, match="0001_a: expected `-- from DIGEST` in the first line"):
        migrations(tmp_path)


def test_a_database_of_a_release_gets_migrations_and_then_the_parts_that_changed() -> None:
    released = Schema([Script("counters", "one"), Script("views", "two")])
    more = Script("0001_more", f"-- from {released.digest}\nALTER")
    ours = Schema([Script("counters", "one and more"), Script("views", "two"), Script("new", "three")], [more])
    assert [one.id for one in ours.pending({})] == ["counters", "views", "new"], "an empty one has no use for it"
    assert ours.differing(released.digests) == []
    assert [one.id for one in ours.pending(released.digests)] == ["0001_more", "counters", "new"]
    assert ours.pending(ours.digests) == []
    assert Script("0001_views_alone", f"-- from {released.digest}\n").statements() == []
    other = Schema([Script("counters", "one of a checkout"), Script("views", "two")])
    assert ours.differing(other.digests) == ["counters"], "the migration does not lead on from it"
    assert released.newer(ours.digests) == ["0001_more"]
    edited = ours._replace(migrations=[Script("0001_more", more.text + " anew")])
    assert edited.edited(ours.digests) == ["0001_more"]


def test_a_board_compares_what_each_rule_alarms_of() -> None:
    [period] = [text for text in schema().parts[-1].statements() if "culprit_period" in text]
    alarms = re.search(r"concat\(rule, ' ', state\) IN \(([^)]+)\)", period)
    assert alarms
    expected = {f"{name} {state}" for name, rule in rules().items() for state in rule.alarms}
    assert set(re.findall(r"'([^']+)'", alarms[1])) == expected
    assert f"toIntervalSecond({QUIET.total_seconds():.0f})" in period
