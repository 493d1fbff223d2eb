"""The migrations as a cluster of replicas gets them, by their text: no cluster runs here."""

from __future__ import annotations

import re

import pytest

from counterflow.schemas.migrations import migrations

STATEMENTS = [
    (migration.id, re.sub(r"--[^\n]*", "", statement))
    for migration in migrations()
    for statement in migration.statements("counterflow")
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
        "Distributed",
    }


def test_every_landed_table_remembers_tokens_on_one_server_and_on_replicas() -> None:
    for name, text in STATEMENTS:
        alone = re.search(r"\bnon_replicated_deduplication_window\s*=\s*(\d+)", text)
        together = re.search(r"(?<!non_)\breplicated_deduplication_window\s*=\s*(\d+)", text)
        seconds = re.search(r"\breplicated_deduplication_window_seconds\s*=\s*(\d+)", text)
        if alone or together:
            assert None not in (alone, together, seconds), name
            assert int(alone[1]) == int(together[1]), name
            assert int(seconds[1]) >= 7 * 24 * 3600, name


@pytest.mark.parametrize("cluster", [None, "counterflow"])
def test_nothing_is_left_to_be_filled_in(cluster: str | None) -> None:
    texts = [text for migration in migrations() for text in migration.statements(cluster)]
    assert [text for text in texts if re.search(r"\{(on_cluster|engine_prefix)\}", text)] == []
