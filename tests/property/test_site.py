"""A site's file: damage anywhere raises nothing; a look-up of a ceiling finds what the file states for that time."""

from __future__ import annotations

import io
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import orjson
from hypothesis import given
from hypothesis import strategies as st

from counterflow.collectors.formats import formats
from counterflow.collectors.records import Context, Item, Position, Record
from tests.golden.cases import golden

EXAMPLE = (Path(__file__).parents[2] / "collectors/formats/site/example.yaml").read_bytes()
SMALL = golden("site/every_list").input
BEGIN = datetime(2025, 1, 1, tzinfo=UTC)

hours = st.integers(0, 9)
machines = st.sampled_from(["z16", "z17"])
boxes = st.sampled_from(["DS8950", "DS8A50"])


class Trickle(io.BytesIO):
    """A stream whose reads return a few bytes at a time, as those of a pipe may."""

    def read(self, size: int | None = -1, /) -> bytes:
        return super().read(100)


def parse(content: bytes, *, complete: bool = True, position: Position | None = None) -> list[Item]:
    context = Context("site.yaml", UTC, complete=complete)
    return list(formats()["site"].parse(Trickle(content), context, position))


def at(hour: float) -> str:
    return (BEGIN + timedelta(hours=hour)).isoformat().replace("+00:00", "Z")


@given(data=st.data())
def test_damage_anywhere_raises_nothing(data: st.DataObject) -> None:
    content = bytearray(SMALL)
    begin = data.draw(st.integers(0, len(content) - 1))
    damage = st.binary(max_size=40) | st.sampled_from([rb'"\ud800"', b"&a", b"*a", b"? ", b"!!binary ", b"- - "])
    content[begin : begin + data.draw(st.integers(0, 40))] = data.draw(damage)
    for item in parse(bytes(content)):
        orjson.dumps(item.fields if isinstance(item, Record) else getattr(item, "detail", None))


@given(cut=st.integers(0, len(SMALL)))
def test_a_split_anywhere_changes_nothing(cut: int) -> None:
    assert parse(SMALL[:cut], complete=False) == []
    *_, position = parse(SMALL)
    assert isinstance(position, Position)
    assert parse(SMALL, position=Position(**orjson.loads(orjson.dumps(position)))) == []


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
