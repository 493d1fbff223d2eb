"""What is generated from the definitions."""

from __future__ import annotations

import re

from counterflow.analysis.culprit import QUIET
from counterflow.pipelines.rules import rules
from counterflow.schemas.migrations import Schema, schema, statements


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
