"""However an nmon recording is cut, damaged, sorted or grown, nothing is raised, lost or duplicated."""

from __future__ import annotations

import io
import re
from collections import Counter
from datetime import UTC
from random import Random

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterflow.collectors.formats.nmon import FORMAT
from counterflow.collectors.records import Context, Item, Position, Reason, Record, Reject, singly
from tests.golden.cases import cases

INPUTS = {case.name.removeprefix("nmon/"): case.input for case in cases("nmon")}
SMALL = {name: content for name, content in INPUTS.items() if len(content) < 8000}
ORDERLY = ("linux_16n", "linux_continuation", "aix_generated", "aix_processes", "defect_sorted_as_it_was", "vios")


class Trickle(io.BytesIO):
    """A stream whose reads return any number of bytes, as those of a pipe do."""

    def __init__(self, content: bytes, sizes: list[int]) -> None:
        super().__init__(content)
        self._sizes = sizes
        self._reads = 0

    def read(self, size: int | None = -1, /) -> bytes:
        self._reads += 1
        return super().read(self._sizes[self._reads % len(self._sizes)])


def parse(content: bytes | io.BytesIO, position: Position | None = None, complete: bool = True) -> list[Item]:
    stream = content if isinstance(content, io.BytesIO) else io.BytesIO(content)
    return list(singly(FORMAT.parse(stream, Context("x.nmon", UTC, complete=complete), position)))


def without_positions(items: list[Item]) -> list[Item]:
    return [item for item in items if not isinstance(item, Position)]


@given(name=st.sampled_from(sorted(SMALL)), sizes=st.lists(st.integers(1, 700), min_size=1, max_size=5))
def test_any_split_of_the_reads_gives_the_same(name: str, sizes: list[int]) -> None:
    assert parse(Trickle(INPUTS[name], sizes)) == parse(INPUTS[name])


@pytest.mark.parametrize("name", INPUTS)
def test_a_parse_resumed_at_any_position_gives_the_rest(name: str) -> None:
    items = parse(INPUTS[name])
    for at, item in enumerate(items):
        if isinstance(item, Position):
            kept = Position(item.byte_offset, item.line, orjson.loads(orjson.dumps(item.state)))  # it is stored as JSON
            assert without_positions(parse(INPUTS[name], kept)) == without_positions(items[at + 1 :])
    assert isinstance(items[-1], Position)
    assert items[-1].byte_offset == len(INPUTS[name])


@given(name=st.sampled_from(sorted(SMALL)), data=st.data())
def test_a_growing_file_gives_what_the_whole_gives(name: str, data: st.DataObject) -> None:
    content = INPUTS[name]
    ends = sorted(data.draw(st.lists(st.integers(0, len(content)), max_size=6)))
    position, items = None, []
    for end in [*ends, len(content)]:
        found = parse(content[:end], position, complete=False)
        assert not found or isinstance(found[-1], Position), "an item that no position covers would be duplicated"
        items += found
        position = next((item for item in reversed(found) if isinstance(item, Position)), position)
    items += parse(content, position)
    assert without_positions(items) == without_positions(parse(content))


def test_rows_after_the_end_of_a_settled_file_are_late() -> None:
    content = INPUTS["defect_sorted_as_it_was"]
    end = content.index(b"DISKREAD,T0002")
    first = parse(content[:end])
    assert isinstance(first[-1], Position)
    late = without_positions(parse(content, first[-1]))
    rejects = [item for item in late if isinstance(item, Reject)]
    assert {reject.reason for reject in rejects} == {"late_row"}
    assert all(reject.raw + b"\n" in content[end:] for reject in rejects)
    assert not [item for item in late if isinstance(item, Record) and item.dataset not in ("config", "manifest")]


@given(name=st.sampled_from(ORDERLY), seed=st.randoms(use_true_random=False))
def test_any_order_of_the_rows_gives_the_same_records(name: str, seed: Random) -> None:
    lines = INPUTS[name].splitlines()
    headers = [line for line in lines if not re.search(rb"^\w+,(?:\w+,)?T\d{4,},", line)]
    rows = [line for line in lines if line not in headers]
    shuffled = seed.sample(rows, len(rows))
    shuffled.sort(key=lambda line: line.startswith(b"ZZZZ"))  # a stamp first would mark it as a recording in order
    for order in (sorted(lines), headers + shuffled):
        assert _records(b"\n".join(order) + b"\n") == _records(INPUTS[name])


def _records(content: bytes) -> Counter[str]:
    """Count the records, ignoring the time of `config`, which follows from its place in the file."""
    found: Counter[str] = Counter()
    for item in without_positions(parse(content)):
        assert isinstance(item, Record | Reject)
        if isinstance(item, Record):
            fields = {k: v for k, v in item.fields.items() if k != "ts" or item.dataset != "config"}
            found[f"{item.dataset} {sorted(fields.items())}"] += 1
    return found


@given(name=st.sampled_from(sorted(SMALL)), data=st.data())
def test_any_damage_is_survived_and_accounted_for(name: str, data: st.DataObject) -> None:
    content = bytearray(INPUTS[name])
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(content)))
        end = min(len(content), at + data.draw(st.integers(0, 40)))
        content[at:end] = data.draw(st.binary(max_size=12) | st.sampled_from([b",", b"\n", b"T0002", b"-", b"AAA,"]))
    items = parse(bytes(content))
    assert isinstance(items[-1], Position)
    for item in items:
        if isinstance(item, Record):
            assert item.fields["system"]
            assert None not in item.fields.values()
    at = data.draw(st.sampled_from([at for at, item in enumerate(items) if isinstance(item, Position)]))
    position = items[at]
    assert isinstance(position, Position)
    assert without_positions(parse(bytes(content), position)) == without_positions(items[at + 1 :])


@given(name=st.sampled_from(ORDERLY), data=st.data())
def test_a_line_of_garbage_is_refused_with_its_bytes_and_changes_nothing_else(name: str, data: st.DataObject) -> None:
    lines = INPUTS[name].splitlines()
    at = data.draw(st.integers(1, len(lines)))
    garbage = data.draw(st.binary(min_size=1, max_size=60).filter(_is_garbage))
    found = parse(b"\n".join([*lines[:at], garbage, *lines[at:]]) + b"\n")
    refused = [item for item in found if isinstance(item, Reject) and item.line == at + 1]
    # the last line of a recording that was stopped is also reported as cut
    assert [r.raw for r in refused if r.reason is not Reason.CUT_FILE] == [garbage.removesuffix(b"\r")]
    records = [item for item in found if isinstance(item, Record)]
    assert records == [item for item in parse(INPUTS[name]) if isinstance(item, Record)]


def _is_garbage(line: bytes) -> bool:
    return b"\n" not in line and line.strip() != b"" and not re.match(rb"[A-Za-z][\w+-]*,", line)
