"""The map of shards, how it splits a batch, and the statements of a cluster."""

from __future__ import annotations

from pathlib import Path
from zlib import crc32

import pytest

from counterflow.base.errors import CounterflowError
from counterflow.pipelines.landing.shards import ShardMap, Split
from counterflow.schemas.migrations import Script, schema
from counterflow.schemas.sharding import LOCAL

SHARDS = {"a": "https://a:8443", "b": "https://b:8443", "c": "https://c:8443"}
GROWN = ShardMap.model_validate(
    {
        "shards": SHARDS,
        "rules": [
            {"shards": ["a"]},
            {"from": "2027-01-01", "shards": ["a", "b"]},
            {"systems": ["lpar9*", "new?"], "shards": ["c"]},
        ],
    }
)


class Message:
    def __init__(self, offset: int, value: bytes) -> None:
        self._offset, self._value = offset, value

    def topic(self) -> str:
        return "t"

    def partition(self) -> int:
        return 3

    def offset(self) -> int:
        return self._offset

    def value(self) -> bytes:
        return self._value

    def timestamp(self) -> tuple[int, int]:
        return (1, 0)

    def __len__(self) -> int:
        return len(self._value)


@pytest.mark.parametrize(
    ("system", "day", "shard"),
    [
        ("lpar1", "2026-12-31", "a"),
        ("lpar1", "2027-01-01", "ab"[crc32(b"lpar1") % 2]),
        ("lpar2", "2027-06-01", "ab"[crc32(b"lpar2") % 2]),
        ("lpar90", "2026-01-01", "c"),
        ("new1", "2030-01-01", "c"),
        ("new12", "2026-01-01", "a"),
    ],
)
def test_the_last_rule_that_applies_decides(system: str, day: str, shard: str) -> None:
    assert GROWN.shard(system, day) == shard


def test_systems_are_sharded_as_partitions_are_chosen() -> None:
    """Agents choose the partition by CRC-32 of the key, which is the system (librdkafka: consistent_random)."""
    two = ShardMap.model_validate({"shards": SHARDS, "rules": [{"shards": ["a", "b"]}]})
    for number in range(200):
        name = f"system-{number}"
        partition = crc32(name.encode()) % 12
        assert two.shard(name, "2026-01-01") == "ab"[partition % 2]


def test_what_a_shard_holds_and_the_map_gives_to_another_is_found() -> None:
    held = [("lpar1", "2026-12-31"), ("lpar90", "2026-12-31"), ("new1", "2027-01-01")]
    assert GROWN.strays("a", held) == held[1:]
    assert GROWN.strays("c", held) == held[:1]


def test_a_batch_is_split_in_order() -> None:
    values = [
        b'{"system":"new1","ts":"2026-01-01T00:00:00Z"}', b'{"system":"lpar1","ts":"2026-01-01T00:00:00Z"}',
        b'{"system":"new2","ts":"2026-01-01T00:00:00Z"}', b'{"ts":"2026-01-01T00:00:00Z"}', b'{"system":7,"ts":1}',
    ]  # fmt: skip
    parts = Split(GROWN)([Message(10 + n, value) for n, value in enumerate(values)])
    assert {shard: [m.offset() for m in part] for shard, part in parts.items()} == {"a": [11, 13, 14], "c": [10, 12]}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("shards: {}", "shards: Dictionary should have at least 1 item"),
        ("shards: {a: x}\nrules: []", "rules: Tuple should have at least 1 item"),
        ("shards: {a: x}\nrules: [{shards: [b]}]", "a rule names b, which `shards` does not"),
        ("shards: {a: x}\nrules: [{shards: [a], from: 2027-01-01}]", "the first rule has to be for every system"),
        ("shards: {a: x}\nrules: [{shards: [a], since: 2027-01-01}]", "rules.0.since: Extra inputs"),
        ("shards: {a: x}\nrules: [{shards: [a], till: 2027-01-01}]", "rules.0.till: Extra inputs"),
        ("shards: [", "cannot be read"),
    ],
)
def test_an_invalid_map_is_refused_with_the_place(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "shards.yaml"
    path.write_text(text)
    with pytest.raises(CounterflowError, match=message):
        ShardMap.read(path)


ON = "ON CLUSTER 'many'"


def test_a_table_that_is_altered_is_read_with_its_new_columns() -> None:
    added = Script("0001_more", "ALTER TABLE counterflow.disk {on_cluster} ADD COLUMN IF NOT EXISTS x Int64;")
    own, read = added.statements("many")
    assert own == f"ALTER TABLE {LOCAL}.disk {ON} ADD COLUMN IF NOT EXISTS x Int64"
    assert read.startswith(f"CREATE OR REPLACE TABLE counterflow.disk {ON} AS {LOCAL}.disk")


def test_the_tables_of_a_shard_without_replicas_need_no_keeper() -> None:
    texts = [text for part in schema().parts for text in part.statements("many", replicated=False)]
    assert [text for text in texts if "ON CLUSTER" in text or "Replicated" in text] == []
