"""A site's file: the example, its keys, hostile files; a look-up of a ceiling finds what is stated for that time."""

from __future__ import annotations

import io
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import orjson
from hypothesis import given
from hypothesis import strategies as st

from counterflow.collectors.formats import formats, recognise
from counterflow.collectors.records import Context, Item, Position, Record, Reject
from tests.support.reading import read_file

EXAMPLE = Path(__file__).parents[2] / "collectors/formats/site/example.yaml"
BEGIN = datetime(2025, 1, 1, tzinfo=UTC)

hours = st.integers(0, 9)
machines = st.sampled_from(["z16", "z17"])
boxes = st.sampled_from(["DS8950", "DS8A50"])


def parse(content: bytes, position: Position | None = None) -> list[Item]:
    return list(formats()["site"].parse(io.BytesIO(content), Context("site.yaml", UTC), position))


def at(hour: float) -> str:
    return (BEGIN + timedelta(hours=hour)).isoformat().replace("+00:00", "Z")


@given(
    places=st.dictionaries(hours, st.tuples(machines, boxes), min_size=1, max_size=5),
    ceilings=st.dictionaries(st.tuples(machines, boxes, hours), st.integers(0, 9), max_size=8),
    shuffled=st.randoms(use_true_random=False),
)
def test_the_newest_row_before_a_time_is_what_holds(
    places: dict[int, tuple[str, str]], ceilings: dict[tuple[str, str, int], int], shuffled: Any
) -> None:
    """0 stands for `none`. Compares look-ups with the definition, hour by hour, whatever the order of the file."""
    used = [
        {"system": "SYS1", "from": at(hour), "subsystems": ["DBP1"], "cec": cec, "storage": storage}
        for hour, (cec, storage) in places.items()
    ]
    measured = [
        {
            "subsystem": "DBP1",
            "path": "zhl",
            "cec": cec,
            "storage": storage,
            "from": at(hour),
            "ceiling_mb_s": c or "none",
        }
        for (cec, storage, hour), c in ceilings.items()
    ]
    shuffled.shuffle(used)
    shuffled.shuffle(measured)
    content = orjson.dumps({"site": "LAB", "systems": used, "log_ceilings": measured})  # JSON is YAML
    rows = {
        item.fields["ts"]: item.fields["value"]
        for item in parse(content)
        if isinstance(item, Record) and (item.fields["item"], item.fields["name"]) == ("DBP1/zhl", "ceiling_mb_s")
    }
    for hour in range(10):
        since = [h for h in places if h <= hour]
        if since:
            place = places[max(since)]
            known = [h for *of, h in ceilings if tuple(of) == place and h <= hour]
            expected = str(ceilings[(*place, max(known))] or "") if known else ""
        else:
            expected = None
        found = [value for ts, value in sorted(rows.items()) if ts <= at(hour)]
        assert (found[-1] if found else None) == expected


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


def test_deep_nesting_and_a_file_beyond_the_limit_are_mistakes() -> None:
    for rest, mistake in ((b"runs: " + b"[" * 1_000, "nested too deeply"), (b"#" + b"x" * 2**20, "split the file")):
        (reject, _) = parse(b"site: LAB\n" + rest)
        assert isinstance(reject, Reject)
        assert mistake in reject.detail
