"""Lines of OMEGAMON Data Provider: no figure lost, and what is remembered is bounded."""

from __future__ import annotations

import io
import json
from datetime import UTC

from hypothesis import given
from hypothesis import strategies as st

from counterflow.collectors.formats import formats
from counterflow.collectors.formats.omegamon_jsonl import MAX_TEXTS
from counterflow.collectors.formats.omegamon_jsonl.known import INTRODUCED, PLACE
from counterflow.collectors.records import Context, Item, Position, Record
from counterflow.collectors.text.lines import STEP

names = st.text(st.characters(codec="utf-8"), max_size=8)
numbers = st.one_of(st.integers(-(2**52), 2**52), st.floats(-1e18, 1e18, allow_nan=False))
extra = st.dictionaries(names.filter(lambda name: name not in (*INTRODUCED, *PLACE)), numbers, max_size=5)


def parse(content: bytes) -> list[Item]:
    return list(formats()["omegamon_jsonl"].parse(io.BytesIO(content), Context("file", UTC)))


@given(fields=extra)
def test_every_number_is_a_counter(fields: dict[str, float]) -> None:
    line = {**fields, "write_time": "2025-11-21T01:01:00Z", "table_name": "t", "smf_id": "SYS1"}
    items = parse(json.dumps(line).encode() + b"\n")
    rows = [item.fields for item in items if isinstance(item, Record) and item.dataset == "counter"]
    assert {row["counter"]: row["value"] for row in rows} == {name: float(value) for name, value in fields.items()}


def test_remembered_texts_are_bounded_and_positions_come_on_the_way() -> None:
    line = b'{"write_time":"2025-11-21T01:01:00Z","table_name":"ascpuutil","product_code":"km5","smf_id":"SYS1",'
    rows = [line + b'"job_name":"JOB%d","svcclass":"A","cpu_percent":1}\n' % n for n in range(2 * MAX_TEXTS + 1)]
    positions = [item for item in parse(b"".join(rows)) if isinstance(item, Position)]
    assert [p.line for p in positions] == [STEP, 2 * STEP, 2 * STEP + 1]
    assert all(len(p.state["texts"]) <= MAX_TEXTS for p in positions)
