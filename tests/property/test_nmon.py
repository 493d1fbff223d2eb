"""However an nmon recording is sorted, and whatever line comes between, nothing is lost or duplicated."""

from __future__ import annotations

import io
import re
from collections import Counter
from datetime import UTC
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from counterflow.collectors.formats import nmon
from counterflow.collectors.records import Context, Item, Position, Reason, Record, Reject, singly
from tests.golden.cases import cases
from tests.support.streams import found

INPUTS = {case.name.removeprefix("nmon/"): case.input for case in cases("nmon")}
ORDERLY = ("linux_16n", "linux_continuation", "aix_generated", "aix_processes", "defect_sorted_as_it_was", "vios")


def parse(content: bytes, position: Position | None = None) -> list[Item]:
    return list(singly(nmon.parse(io.BytesIO(content), Context("x.nmon", UTC), position)))


def test_rows_after_the_end_of_a_settled_file_are_late() -> None:
    content = INPUTS["defect_sorted_as_it_was"]
    end = content.index(b"DISKREAD,T0002")
    first = parse(content[:end])
    assert isinstance(first[-1], Position)
    late = found(parse(content, first[-1]))
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
    records: Counter[str] = Counter()
    for item in parse(content):
        if isinstance(item, Record):
            fields = {k: v for k, v in item.fields.items() if k != "ts" or item.dataset != "config"}
            records[f"{item.dataset} {sorted(fields.items())}"] += 1
    return records


@given(name=st.sampled_from(ORDERLY), data=st.data())
def test_a_line_of_garbage_is_refused_with_its_bytes_and_changes_nothing_else(name: str, data: st.DataObject) -> None:
    lines = INPUTS[name].splitlines()
    at = data.draw(st.integers(1, len(lines)))
    garbage = data.draw(st.binary(min_size=1, max_size=60).filter(_is_garbage))
    items = parse(b"\n".join([*lines[:at], garbage, *lines[at:]]) + b"\n")
    refused = [item for item in items if isinstance(item, Reject) and item.line == at + 1]
    # the last line of a recording that was stopped is also reported as cut
    assert [r.raw for r in refused if r.reason is not Reason.CUT_FILE] == [garbage.removesuffix(b"\r")]
    records = [item for item in items if isinstance(item, Record)]
    assert records == [item for item in parse(INPUTS[name]) if isinstance(item, Record)]


def _is_garbage(line: bytes) -> bool:
    return b"\n" not in line and line.strip() != b"" and not re.match(rb"[A-Za-z][\w+-]*,", line)
