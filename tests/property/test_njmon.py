"""Whatever is cut out of a njmon file or written into it, nothing is raised and the other samples are read."""

from __future__ import annotations

import io
from datetime import UTC

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterflow.collectors.formats import njmon
from counterflow.collectors.records import Context, Item, Record, Reject, singly
from tests.support.streams import found


def sample(loop: int, *, text: str = "rw") -> dict[str, object]:
    return {
        "timestamp": {"UTC": f"2026-11-21T01:52:{loop:02}", "snapshot_seconds": 1, "snapshot_loop": loop},
        "identity": {"hostname": "vm"},
        "stat": {"cpu_total": {"user": 50.5, "nice": 0, "sys": 10, "idle": 39.5}, "counters": {"btime": 1795224520}},
        "proc_vmstat": {"pgfault": 1000 + 7 * loop},
        "disk": {"vda": {"reads": 10.5, "rmsec": 21, "busy": 3}},
        "filesystems": {"/dev/vda": {"fs_opts": text, "fs_used_mb": 5}},
    }


SAMPLES = [sample(loop, text='a } { "b') for loop in range(4)]
TEXTS = {
    "array": [orjson.dumps(s, option=orjson.OPT_INDENT_2) for s in SAMPLES],
    "lines": [orjson.dumps(s) for s in SAMPLES],
}
WHOLE = {
    "array": b'{\n  "samples": [\n' + b",\n".join(TEXTS["array"]) + b" ]\n}\n",
    "lines": b"\n".join(TEXTS["lines"]) + b"\n",
}
ENDS = {form: [WHOLE[form].index(text) + len(text) for text in texts] for form, texts in TEXTS.items()}


def parse(content: bytes) -> list[Item]:
    return found(list(singly(njmon.parse(io.BytesIO(content), Context("file", UTC)))))


@pytest.mark.parametrize("form", WHOLE)
def test_both_forms_hold_the_same_records(form: str) -> None:
    one, other = (
        [(item.dataset, item.fields) for item in parse(WHOLE[held]) if isinstance(item, Record)]
        for held in (form, "lines")
    )
    assert one == other
    assert not [item for item in parse(WHOLE[form]) if isinstance(item, Reject)]


@pytest.mark.parametrize("form", WHOLE)
@given(data=st.data())
def test_a_file_cut_anywhere_keeps_every_whole_sample(form: str, data: st.DataObject) -> None:
    content = WHOLE[form]
    cut = data.draw(st.integers(0, len(content)))
    times = {item.fields["ts"] for item in parse(content[:cut]) if isinstance(item, Record)}
    assert times == {f"2026-11-21T01:52:{loop:02}Z" for loop, end in enumerate(ENDS[form]) if end <= cut}


@pytest.mark.parametrize("form", WHOLE)
@given(data=st.data())
def test_damage_anywhere_raises_nothing_and_spares_the_other_samples(form: str, data: st.DataObject) -> None:
    content = bytearray(WHOLE[form])
    begin = data.draw(st.integers(0, len(content) - 1))
    length = data.draw(st.integers(0, 40))
    content[begin : begin + length] = data.draw(st.binary(max_size=40))
    times = {item.fields["ts"] for item in parse(bytes(content)) if isinstance(item, Record)}
    assert len(times) >= len(SAMPLES) - 2
    for item in parse(bytes(content)):
        if isinstance(item, Record):
            orjson.dumps(item.fields)
