"""A site's file: the example is valid, mistakes are found where they stand, no key has two values at one time."""

from __future__ import annotations

import io
from datetime import UTC
from pathlib import Path

from counterflow.collectors.formats import formats, recognise
from counterflow.collectors.reading import read_file
from counterflow.collectors.records import Context, Item, Position, Record, Reject

EXAMPLE = Path(__file__).parents[2] / "collectors/formats/site/example.yaml"


def parse(content: bytes, position: Position | None = None) -> list[Item]:
    return list(formats()["site"].parse(io.BytesIO(content), Context("site.yaml", UTC), position))


def records(items: list[Item]) -> list[Record]:
    return [item for item in items if isinstance(item, Record)]


def key(record: Record) -> tuple[str, ...]:
    return tuple(record.fields[name] for name in ("system", "section", "item", "name", "ts"))


def test_the_example_has_no_mistakes() -> None:
    items = list(read_file(EXAMPLE, UTC))
    assert not [item for item in items if isinstance(item, Reject)]
    rows = {key(r): r.fields["value"] for r in records(items)}
    assert {section for _, section, *_ in rows} == {"log_ceiling", "port", "price", "run", "batch", "mirror", "change"}
    assert rows["SYS1", "log_ceiling", "DBP1/zhl", "ceiling_mb_s", "2025-11-21T00:00:00Z"] == "594"


def test_it_is_recognised_wherever_comments_and_lists_stand() -> None:
    for head in (
        EXAMPLE.read_bytes(),
        b"\xef\xbb\xbfsite: A\nruns: []\n",
        b"runs: []\nsite: A\n",
        b"site : A\r\nruns:\r\n",
    ):
        assert recognise(head) is formats()["site"]
    for head in (b"agent_id: a\nsources: []\n", b"site: A\n", b"  site: A\n  runs: []\n", b"{}", b""):
        assert recognise(head) is not formats()["site"]


def test_a_changed_file_repeats_the_keys_of_what_did_not_change() -> None:
    before = EXAMPLE.read_bytes()
    new = b"  - {systems: [SYS9], from: 2026-01-01T00:00:00Z, what: PTF}\n"
    first = parse(before)
    position = first[-1]
    assert isinstance(position, Position)
    assert parse(before, position) == []
    again = parse(before + new, position)
    assert {key(r) for r in records(first)} < {key(r) for r in records(again)}
    assert len(records(again)) == len(records(first)) + 1


def test_a_few_aliases_that_stand_for_millions_of_keys_are_no_load() -> None:
    levels = [f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 9)}]" for n in range(1, 12)]
    bomb = "\n".join(["site: LAB", "l0: &l0 [x]", *levels, "runs: [*l11, {name: *l11}]", ""]).encode()
    assert not records(parse(bomb))


def test_deep_nesting_is_a_mistake() -> None:
    (reject, _) = parse(b"site: LAB\nruns: " + b"[" * 2_000)
    assert isinstance(reject, Reject)
    assert "nested too deeply" in reject.detail


def test_a_file_beyond_the_limit_is_refused() -> None:
    (reject, _) = parse(b"site: LAB\n#" + b"x" * 2**20)
    assert isinstance(reject, Reject)
    assert "split the file" in reject.detail
