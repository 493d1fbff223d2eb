"""njmon: a real recording recomputed from its JSON; whatever is cut out or written into a file spares other samples."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterflow.collectors.formats import njmon
from counterflow.collectors.records import Context, Item, Record, Reject, singly
from tests.support.recordings import RECORDINGS
from tests.support.streams import found

RECORDING = RECORDINGS / "njmon_v25_linux.json"


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


# the recording


@pytest.fixture(scope="module")
def samples() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(RECORDING.read_bytes())["samples"]
    return found


@pytest.fixture(scope="module")
def items() -> list[Item]:
    return parse(RECORDING.read_bytes())


def rows(items: list[Item], dataset: str, **wanted: Any) -> Iterator[dict[str, Any]]:
    for item in items:
        if isinstance(item, Record) and item.dataset == dataset and wanted.items() <= item.fields.items():
            yield item.fields


def test_nothing_of_a_whole_recording_is_refused(items: list[Item]) -> None:
    assert not [item for item in items if isinstance(item, Reject)]


def test_intervals_add_up_to_the_recording(samples: list[dict[str, Any]], items: list[Item]) -> None:
    first, last = (datetime.fromisoformat(samples[at]["timestamp"]["UTC"]) for at in (0, -1))
    span = (last - first).total_seconds() + samples[0]["timestamp"]["snapshot_seconds"]
    assert sum(row["interval_s"] for row in rows(items, "pool")) == span


def test_disk_amounts_are_rates_times_their_intervals(samples: list[dict[str, Any]], items: list[Item]) -> None:
    seconds = [row["interval_s"] for row in rows(items, "pool")]
    found = list(rows(items, "disk", disk="vda"))
    for column, key in (("read_kb", "rkb"), ("written_kb", "wkb"), ("transfers", "xfers"), ("backlog_ms", "backlog")):
        total = sum(sample["disk"]["vda"][key] * s for sample, s in zip(samples, seconds, strict=True))
        assert sum(row[column] for row in found) == pytest.approx(total, abs=0.01)
    busiest = samples[4]["disk"]["vda"]  # 1969.528 ms a second over 589.712 reads a second
    assert found[4]["read_service_ms"] == pytest.approx(busiest["rmsec"] / busiest["reads"], abs=0.001) == 3.340
    # Little's law holds: all waiting time is that of reads and writes, and of flushes, which no counter separates
    assert busiest["rmsec"] + busiest["wmsec"] == pytest.approx(busiest["backlog"], rel=0.02)
    assert {row["disk"] for row in rows(items, "disk", leaf=True)} == {"vda"}


def test_faults_are_differences_of_what_counts_since_boot(samples: list[dict[str, Any]], items: list[Item]) -> None:
    first, *others = rows(items, "pool")
    assert "faults" not in first
    counts = [sample["proc_vmstat"]["pgfault"] for sample in samples]
    assert sum(row["faults"] for row in others) == counts[-1] - counts[0]


def test_processor_shares_hold_all_that_was_measured(samples: list[dict[str, Any]], items: list[Item]) -> None:
    for sample, row in zip(samples, rows(items, "system_cpu", engine="all"), strict=True):
        guests = {"guest", "guestnice"}  # counted in user and nice as well
        measured = sum(share for name, share in sample["stat"]["cpu_total"].items() if name not in guests)
        found = sum(row[column] for column in ("user_pct", "sys_pct", "wait_pct", "idle_pct", "steal_pct"))
        assert found == pytest.approx(measured, abs=0.01)
        assert row["logical_engines"] == 2


def test_configuration_is_published_once(items: list[Item]) -> None:
    assert len(list(rows(items, "config", section="os_release", name="pretty_name"))) == 1
    assert {row["value"] for row in rows(items, "config", section="identity", name="eth0_IP6#2")} == {
        "fe80::fc:ff:fe00:1"
    }
