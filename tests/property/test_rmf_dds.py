"""Responses of a DDS: whatever they hold and however they are joined."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterflow.collectors.formats import rmf_dds
from counterflow.collectors.formats.rmf_dds import decode, newest
from counterflow.collectors.records import Context, Item, Position, Record, Reject
from tests.support.streams import Trickle


def parse(content: bytes, *, complete: bool = True, position: Position | None = None, size: int = 2**16) -> list[Item]:
    context = Context("file", ZoneInfo("Asia/Tokyo"), complete=complete)
    return list(rmf_dds.parse(Trickle(content, size), context, position))


def sysinfo(end: datetime, gcp_pct: float) -> dict[str, Any]:
    start = end - timedelta(seconds=60)
    return {
        "report": [
            {
                "metric": {"id": "SYSINFO"},
                "resource": {"reslabel": ",SYS1,MVS_IMAGE", "restype": "MVS_IMAGE"},
                "timeData": {"utcStart": f"{start:%Y%m%d%H%M%S}", "utcEnd": f"{end:%Y%m%d%H%M%S}"},
                "caption": {"var": [{"name": "SYSCUVVC", "value": str(gcp_pct)}]},
                "row": [],
            }
        ]
    }


def test_entities_are_not_expanded() -> None:
    with pytest.raises(ValueError, match="entities of its own"):
        decode('<!DOCTYPE ddsml [<!ENTITY a "aaaa">]><ddsml>&a;&a;</ddsml>')


_json = st.recursive(
    st.none()
    | st.booleans()
    | st.floats()
    | st.integers()
    | st.sampled_from(["", "NaN", ",SYS1,MVS_IMAGE", "SYSINFO"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["value", "name", "col"]), inner),
    max_leaves=6,
)


@given(
    part=st.sampled_from(["metric", "resource", "timeData", "message", "caption", "columnHeaders", "row"]), value=_json
)
def test_any_structure_raises_nothing(part: str, value: Any) -> None:
    response = sysinfo(datetime(2026, 7, 10, 9, 7, tzinfo=UTC), 14.0)
    response["report"][0][part] = value
    content = json.dumps(response).encode()
    for item in parse(content):
        if isinstance(item, Record):
            orjson.dumps(item.fields)
    newest(content)


@given(
    shares=st.lists(st.integers(0, 1000).map(lambda tenths: tenths / 10), min_size=1, max_size=4),
    begin=st.integers(10**9, 10**10).map(lambda seconds: datetime.fromtimestamp(seconds, UTC)),
    indent=st.sampled_from([None, 1]),
    joined=st.sampled_from(["", "\n", "\n\n", ",", "[]"]),
)
def test_however_responses_are_joined_their_figures_are_the_same(
    shares: list[float], begin: datetime, indent: int | None, joined: str
) -> None:
    ends = [begin + timedelta(minutes=n) for n in range(len(shares))]
    text = joined.join(json.dumps(sysinfo(*one), indent=indent) for one in zip(ends, shares, strict=True))
    items = parse(text.encode())
    found = [item.fields for item in items if isinstance(item, Record) and item.dataset == "system_cpu"]
    rows = [(row["ts"], row["interval_s"], row["busy_pct"]) for row in found]
    assert rows == [(f"{end:%Y-%m-%dT%H:%M:%S}Z", 60, share) for end, share in zip(ends, shares, strict=True)]
    assert [item for item in items if isinstance(item, Reject)] == []


def test_an_interval_without_data_yet_differs_from_one_with_data() -> None:
    end = datetime(2026, 7, 10, 9, 7, tzinfo=UTC)
    later = sysinfo(end, 14.0)
    earlier = sysinfo(end, 14.0)
    del earlier["report"][0]["caption"]
    earlier["report"][0]["message"] = {"id": "GPM0507I", "severity": 3, "description": "no data"}
    ends = [newest(json.dumps(one).encode()) for one in (earlier, later, later)]
    assert ends[0] is not None
    assert ends[0] != ends[1] == ends[2]
