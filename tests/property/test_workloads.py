"""Workloads and queries against sums of their own."""

from __future__ import annotations

import io
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterflow.collectors.formats import formats
from counterflow.collectors.records import Context, Item, Position, Record, Reject
from tests.support.streams import newest_position

BEGIN = datetime(2025, 11, 21, 10, tzinfo=UTC)


def parse(form: str, content: bytes, *, position: Position | None = None) -> list[Item]:
    context = Context("file", ZoneInfo("Europe/Berlin"), "SYS1")
    return list(formats()[form].parse(io.BytesIO(content), context, position))


def records(form: str, lines: list[str]) -> list[dict[str, Any]]:
    items = parse(form, "".join(f"{line}\n" for line in lines).encode())
    assert [item for item in items if isinstance(item, Reject)] == []
    return [item.fields for item in items if isinstance(item, Record) and item.dataset == "workload"]


@given(runs=st.lists(st.lists(st.integers(0, 10**9), min_size=1, max_size=8), min_size=1, max_size=4))
def test_the_intervals_of_a_run_of_workload_csv_add_up_to_the_run(runs: list[list[int]]) -> None:
    lines = ["time_utc,workload,run_id,unit_of_work,done"]
    for number, amounts in enumerate(runs):
        for at in range(len(amounts) + 1):
            when = BEGIN + timedelta(hours=number, seconds=60 * at)
            lines.append(f"{when.isoformat()},batch,r{number},accounts,{sum(amounts[:at])}")
    rows = records("workload_csv", lines)
    for number, amounts in enumerate(runs):
        own = [row for row in rows if row["run_id"] == f"r{number}"]
        assert "prev_done" not in own[0]
        assert [row["done"] - row["prev_done"] for row in own[1:]] == amounts
        assert sum(row["interval_s"] for row in own[1:]) == 60 * len(amounts)


queries = st.lists(st.tuples(st.integers(0, 10_000), st.integers(1, 10_000)), min_size=1, max_size=20, unique=True)


@given(times=queries, order=st.randoms(use_true_random=False))
def test_queries_an_hour_of_query_log_in_any_order(times: list[tuple[int, int]], order: Any) -> None:
    order.shuffle(times)
    lines = ["workload,query,start,end"]
    for number, (begin, took) in enumerate(times):
        start, end = (BEGIN + timedelta(seconds=at) for at in (begin, begin + took))
        lines.append(f"BDI,Q{number},{start.isoformat()},{end.isoformat()}")
    rows = records("query_log", lines)
    elapsed = max(begin + took for begin, took in times) - min(begin for begin, _ in times)
    last, first = (pick(rows, key=lambda row: row["ts"]) for pick in (max, min))
    span = datetime.fromisoformat(last["ts"]) - datetime.fromisoformat(first["ts"])
    assert (first["done"], last["done"]) == (0, len(times))
    assert span.total_seconds() == elapsed == sum(row.get("interval_s", 0) for row in rows)
    assert last["done"] * 3600 / span.total_seconds() == pytest.approx(len(times) * 3600 / elapsed)


def test_queries_appended_to_query_log_continue_its_count() -> None:
    head = "workload,query,start,end\n"
    one = "BDI,Q1,2025-11-21T10:00:00Z,2025-11-21T10:01:00Z\n"
    two = "BDI,Q2,2025-11-21T09:59:00Z,2025-11-21T10:02:00Z\nBDI,Q3,2025-11-21T10:00:00Z,2025-11-21T10:00:30Z\n"
    position = newest_position(parse("query_log", (head + one).encode()))
    later = parse("query_log", (head + one + two).encode(), position=position)
    rows = [(item.fields["ts"], item.fields["done"]) for item in later if isinstance(item, Record)]
    assert rows == [("2025-11-21T09:59:00Z", 0.0), ("2025-11-21T10:02:00Z", 2.0)]
    assert [item.reason.value for item in later if isinstance(item, Reject)] == ["late_row"]


def test_of_the_messages_of_a_binding_of_ycsb_the_first_are_noted_and_the_others_counted() -> None:
    status = "2025-11-21 19:00:00:000 0 sec: 0 operations; est completion in 0 second \n"
    messages = [f"java.sql.SQLException: deadlock {number}" for number in range(23)]
    items = parse("ycsb", (status + "\n".join(messages) + "\n").encode())
    assert [item.detail for item in items if isinstance(item, Reject)] == [
        *messages[:20],
        "3 messages more than the 20 that are noted",
    ]
