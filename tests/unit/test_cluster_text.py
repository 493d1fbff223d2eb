"""The schema as a cluster of replicas gets them, by their text: no cluster runs here."""

from __future__ import annotations

import re

import pytest

from counterflow.schemas.migrations import schema, statements

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
