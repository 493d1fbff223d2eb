"""Listings and documents of an HMC, and documents of sadf: splits and damage anywhere, and one name for one port."""

from __future__ import annotations

from datetime import UTC
from pathlib import Path

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counterflow.collectors.formats import formats, recognise
from counterflow.collectors.records import Context, Format, Item, Position, Record
from tests.support.streams import Trickle, found, newest_position

GOLDEN = Path(__file__).parent.parent / "golden"
INPUTS = {
    "hmc_lshwres": (GOLDEN / "hmc_lshwres/capacity_changed/input.csv").read_bytes(),
    "hmc_feed": (GOLDEN / "hmc_feed/cut_and_appended/input.xml").read_bytes(),
    "hmc_lslparutil": (GOLDEN / "hmc_lslparutil/newest_first/input.csv").read_bytes(),
    "sysstat": (GOLDEN / "sysstat/documents_overlap_and_one_is_cut/input.json").read_bytes(),
    "hmc_pcm": (GOLDEN / "hmc_pcm/text_between_documents/input.json").read_bytes(),
}


def parse(
    form: Format, content: bytes, *, complete: bool = True, position: Position | None = None, size: int = 2**16
) -> list[Item]:
    return list(form.parse(Trickle(content, size), Context("file", UTC, complete=complete), position))


@pytest.mark.parametrize("name", INPUTS)
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_a_split_anywhere_changes_nothing(name: str, data: st.DataObject) -> None:
    content, form = INPUTS[name], formats()[name]
    cut = data.draw(st.integers(0, len(content)))
    first = parse(form, content[:cut], complete=False, size=data.draw(st.integers(1, 200)))
    position = newest_position(first)
    assert found(first) + found(parse(form, content, position=position)) == found(parse(form, content))


@pytest.mark.parametrize("name", INPUTS)
@settings(max_examples=100, deadline=None)
@given(data=st.data())
def test_damage_anywhere_raises_nothing(name: str, data: st.DataObject) -> None:
    content = bytearray(INPUTS[name])
    begin = data.draw(st.integers(0, len(content) - 1))
    content[begin : begin + data.draw(st.integers(0, 40))] = data.draw(st.binary(max_size=40))
    for item in parse(formats()[name], bytes(content)):
        if isinstance(item, Record):
            orjson.dumps(item.fields)


@pytest.mark.parametrize("name", INPUTS)
def test_it_is_recognised(name: str) -> None:
    form = recognise(INPUTS[name])
    assert form is formats()[name]


def test_capacity_and_load_name_a_port_alike() -> None:
    def ports(name: str, case: str) -> set[tuple[str, str, str]]:
        lines = (GOLDEN / name / case / "expected.jsonl").read_bytes().splitlines()
        rows = [row["fields"] for row in map(orjson.loads, lines) if row.get("dataset") == "link"]
        return {(row["system"], row["link"], row["physical_port"]) for row in rows}

    assert ports("hmc_lshwres", "header") == ports("hmc_pcm", "partitions_in_one_file")
