"""Figures that cannot be are null, whatever the format, and an anomaly names them."""

from __future__ import annotations

import io
from collections.abc import Iterator
from datetime import UTC
from typing import Any, BinaryIO

import pytest

from counterflow.collectors.plausible import Plausible
from counterflow.collectors.records import Context, Item, Position, Reason, Record, Reject, Table, singly

CONTEXT = Context("file", UTC)
ENVELOPE = {"ts": "2026-03-02T08:10:01Z", "interval_s": 60.0, "system": "SYS1", "source": "test"}


class Yields:
    """A format that yields given items."""

    def __init__(self, *items: Item) -> None:
        self.items = items

    def recognises(self, head: bytes) -> bool:
        return False

    def parse(self, stream: BinaryIO, context: Context, position: Position | None = None) -> Iterator[Item]:
        yield from self.items


def judged(*items: Item) -> tuple[list[Record], list[Reject]]:
    found = list(singly(Plausible("given", Yields(*items)).parse(io.BytesIO(), CONTEXT)))
    return [i for i in found if isinstance(i, Record)], [i for i in found if isinstance(i, Reject)]


def row(dataset: str, **fields: Any) -> Record:
    return Record(dataset, {**ENVELOPE, **fields})


def test_a_percentage_above_100_is_null_and_the_row_stays() -> None:
    cpu = {"engine_type": "core", "engine": "all", "user_pct": 322.3, "sys_pct": 1.0}
    (kept,), (reject,) = judged(row("system_cpu", **cpu))
    assert kept.fields == {**ENVELOPE, "engine_type": "core", "engine": "all", "sys_pct": 1.0}
    assert (reject.reason, reject.kept, reject.system) == (Reason.OUT_OF_RANGE, "part", "SYS1")
    assert reject.detail == "system_cpu core all: user_pct 322.3 is above 100 %"


@pytest.mark.parametrize("value", [100.0, 100.9])
def test_what_rounding_explains_is_kept(value: float) -> None:
    record = row("disk", disk="sda", device_type="disk", leaf=True, busy_pct=value)
    assert judged(record) == ([record], [])


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("transfers", 60 * 10e6 * 1.02),
        ("read_kb", 60 * 1e12 / 1024 * 1.02),
        ("read_kb", (2**32 - 8) / 2),  # sectors
        ("written_kb", 858993457.6 / 2 * 60),  # 2^32 / 5 s
        ("reads", -1.0),
        ("reads", 2.0**64 / 5),
    ],
)
def test_what_no_disk_can_do_is_null(column: str, value: float) -> None:
    disk = {"disk": "sda", "device_type": "disk", "leaf": True}
    (kept,), (reject,) = judged(row("disk", **disk, **{column: value}))
    assert kept.fields == {**ENVELOPE, **disk}
    assert column in reject.detail


def test_shares_above_the_whole_are_null_in_a_table() -> None:
    engine = {"engine_type": ["logical"], "engine": ["0"]}
    table = Table("system_cpu", ENVELOPE, {**engine, "user_pct": [70.0], "sys_pct": [60.0]})
    (kept,), (reject,) = judged(table)
    assert kept.fields == {**ENVELOPE, "engine_type": "logical", "engine": "0"}
    assert reject.detail == "system_cpu logical 0: user_pct + sys_pct 130 is above 100 %"


def test_a_counter_beyond_any_is_left_out_and_its_manifest_counts_one_less() -> None:
    columns = {"section": ["io", "io"], "instance": ["", ""], "counter": ["tps", "rtps"], "value": [1e19, 1.0]}
    manifest = row("manifest", counted="counter", row_count=2)
    (kept, counted), (reject,) = judged(Table("counter", ENVELOPE, columns), manifest)
    assert (kept.fields["counter"], counted.fields["row_count"]) == ("rtps", 1)
    assert "counter io tps" in reject.detail
