"""A real njmon recording against a plain recomputation from its JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from counterflow.collectors.formats import njmon
from counterflow.collectors.records import Context, Record, Reject, singly
from tests.support.recordings import RECORDINGS

RECORDING = RECORDINGS / "njmon_v25_linux.json"


@pytest.fixture(scope="module")
def samples() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(RECORDING.read_bytes())["samples"]
    return found


@pytest.fixture(scope="module")
def items() -> list[Record | Reject]:
    with RECORDING.open("rb") as stream:
        return [i for i in singly(njmon.parse(stream, Context("x", UTC))) if isinstance(i, Record | Reject)]


def rows(items: list[Record | Reject], dataset: str, **wanted: Any) -> Iterator[dict[str, Any]]:
    for item in items:
        if isinstance(item, Record) and item.dataset == dataset and wanted.items() <= item.fields.items():
            yield item.fields


def test_nothing_of_a_whole_recording_is_refused(items: list[Record | Reject]) -> None:
    assert not [item for item in items if isinstance(item, Reject)]


def test_intervals_add_up_to_the_recording(samples: list[dict[str, Any]], items: list[Record | Reject]) -> None:
    first, last = (datetime.fromisoformat(samples[at]["timestamp"]["UTC"]) for at in (0, -1))
    span = (last - first).total_seconds() + samples[0]["timestamp"]["snapshot_seconds"]
    assert sum(row["interval_s"] for row in rows(items, "pool")) == span


def test_disk_amounts_are_rates_times_their_intervals(
    samples: list[dict[str, Any]], items: list[Record | Reject]
) -> None:
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


def test_faults_are_differences_of_what_counts_since_boot(
    samples: list[dict[str, Any]], items: list[Record | Reject]
) -> None:
    first, *others = rows(items, "pool")
    assert "faults" not in first
    counts = [sample["proc_vmstat"]["pgfault"] for sample in samples]
    assert sum(row["faults"] for row in others) == counts[-1] - counts[0]


def test_processor_shares_hold_all_that_was_measured(
    samples: list[dict[str, Any]], items: list[Record | Reject]
) -> None:
    for sample, row in zip(samples, rows(items, "system_cpu", engine="all"), strict=True):
        guests = {"guest", "guestnice"}  # counted in user and nice as well
        measured = sum(share for name, share in sample["stat"]["cpu_total"].items() if name not in guests)
        found = sum(row[column] for column in ("user_pct", "sys_pct", "wait_pct", "idle_pct", "steal_pct"))
        assert found == pytest.approx(measured, abs=0.01)
        assert row["logical_engines"] == 2


def test_configuration_is_published_once(items: list[Record | Reject]) -> None:
    assert len(list(rows(items, "config", section="os_release", name="pretty_name"))) == 1
    assert {row["value"] for row in rows(items, "config", section="identity", name="eth0_IP6#2")} == {
        "fe80::fc:ff:fe00:1"
    }
