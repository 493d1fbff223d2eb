"""A site's file: a look-up of a ceiling finds what the file states for that time."""

from __future__ import annotations

import io
from datetime import UTC, datetime, timedelta
from typing import Any

import orjson
from hypothesis import given
from hypothesis import strategies as st

from counterflow.collectors.formats import formats
from counterflow.collectors.records import Context, Item, Record

BEGIN = datetime(2025, 1, 1, tzinfo=UTC)

hours = st.integers(0, 9)
machines = st.sampled_from(["z16", "z17"])
boxes = st.sampled_from(["DS8950", "DS8A50"])


def parse(content: bytes) -> list[Item]:
    return list(formats()["site"].parse(io.BytesIO(content), Context("site.yaml", UTC)))


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
