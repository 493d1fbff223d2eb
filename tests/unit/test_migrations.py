"""The schema: what it consists of, its statements on one server and on a cluster of replicas, and old servers."""

from __future__ import annotations

import re

import pytest

from counterflow.analysis.culprit import QUIET
from counterflow.base.errors import CounterflowError
from counterflow.pipelines.rules import rules
from counterflow.schemas.migrations import Schema, require_version, schema, statements


def test_statements_are_split_outside_text_and_comments() -> None:
    text = "-- one; not two\nCREATE TABLE a {on_cluster} (x String COMMENT 'it\\'s; fine');\n\nSELECT 1 - 2; -- end\n"
    first, second = statements(text)
    assert first.endswith("(x String COMMENT 'it\\'s; fine')")
    assert second == "SELECT 1 - 2"
    assert "ON CLUSTER 'main'" in statements(text, "main")[0]


def test_a_database_of_a_release_gets_the_migrations_from_there_on_and_the_parts() -> None:
    first = Schema({"counters": "one"}, {})
    second = Schema({"counters": "two"}, {"0001_two": f"-- from {first.digest}\nALTER"})
    third = Schema({"counters": "three"}, {**second.migrations, "0002_three": f"-- from {second.digest}\n"})
    assert third.scripts_from("") == third.parts, "an empty one has no use for migrations"
    assert list(third.scripts_from(first.digest) or ()) == ["0001_two", "0002_three", "counters"]
    assert list(third.scripts_from(second.digest) or ()) == ["0002_three", "counters"]
    assert third.scripts_from(third.digest) == {}
    assert second.scripts_from(third.digest) is None, "of a newer version"
    assert third.scripts_from(Schema({"counters": "another checkout"}, {}).digest) is None
    assert statements(third.migrations["0002_three"]) == []


def test_a_board_compares_what_each_rule_alarms_of() -> None:
    [period] = [text for text in statements(schema().parts["culprit"]) if "culprit_period" in text]
    alarms = re.search(r"concat\(rule, ' ', state\) IN \(([^)]+)\)", period)
    assert alarms
    expected = {f"{name} {state}" for name, rule in rules().items() for state in rule.alarms}
    assert set(re.findall(r"'([^']+)'", alarms[1])) == expected
    assert f"toIntervalSecond({QUIET.total_seconds():.0f})" in period


STATEMENTS = [
    (name, re.sub(r"--[^\n]*", "", statement))
    for name, part in schema().parts.items()
    for statement in statements(part, "counterflow")
]


def test_every_statement_reaches_every_server() -> None:
    changes = re.compile(
        r"\s*(CREATE|ALTER|DROP|RENAME|EXCHANGE|TRUNCATE|OPTIMIZE|SYSTEM|DETACH|ATTACH)\b", re.IGNORECASE
    )
    local = [name for name, text in STATEMENTS if changes.match(text) and "ON CLUSTER 'counterflow'" not in text]
    assert local == []


def test_every_table_is_replicated() -> None:
    engines = [(name, engine) for name, text in STATEMENTS for engine in re.findall(r"\bENGINE\s*=\s*(\w+)", text)]
    assert {engine for _, engine in engines} <= {
        "ReplicatedMergeTree",
        "ReplicatedReplacingMergeTree",
        "ReplicatedSummingMergeTree",
        "ReplicatedAggregatingMergeTree",
    }


@pytest.mark.parametrize("cluster", [None, "counterflow"])
def test_nothing_is_left_to_be_filled_in(cluster: str | None) -> None:
    texts = [text for part in schema().parts.values() for text in statements(part, cluster)]
    assert [text for text in texts if re.search(r"\{(on_cluster|engine_prefix)\}", text)] == []


@pytest.mark.parametrize("version", ["24.8.4.1", "25.5.2.1"])
def test_a_server_that_is_too_old_is_refused_with_the_reason_and_the_way_out(version: str) -> None:
    with pytest.raises(
        CounterflowError, match=rf"ClickHouse {version} is too old: tables and views need 25\.8 or later"
    ) as refused:
        require_version(version)
    assert refused.value.hint == "upgrade the server to 25.8 or later, then run counterflow dev migrate again"


@pytest.mark.parametrize("version", ["25.8.2.1", "26.10.1", "27.1.1"])
def test_a_newer_server_is_accepted(version: str) -> None:
    require_version(version)


def test_no_view_ends_with_a_table_or_a_subquery_without_a_name() -> None:
    """Before 26.7 a COMMENT behind it would be taken for its name."""
    unnamed = re.compile(r"(?:\b(?:FROM|JOIN)\s+[\w.]+(?:\s+FINAL)?|^\))\nCOMMENT", re.MULTILINE)
    views = [text for part in schema().parts.values() for text in statements(part) if " VIEW " in text]
    assert len(views) > 30
    assert [text for text in views if unnamed.search(text)] == []
