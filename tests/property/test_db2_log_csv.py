"""Texts about Db2's log: splits and damage anywhere, running counts against an independent computation."""

from __future__ import annotations

import itertools
from datetime import UTC, datetime, timedelta

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterflow.collectors.formats import formats, recognise
from counterflow.collectors.records import Context, Item, Position, Reason, Record, Reject
from tests.golden.cases import golden
from tests.support.streams import Trickle, found, newest_position

INPUTS = {
    f"{name}/{case}": golden(f"{name}/{case}").input
    for name, case in (
        ("db2_log_csv", "two_members"),
        ("db2_log_csv", "files_joined_and_rows_damaged"),
        ("omegamon_log_activity", "two_intervals_of_a_report"),
        ("omegamon_log_activity", "records_restarted"),
        ("db2_display_log", "used_by_both_copies"),
        ("db2_display_log", "hardcopy_log"),
        ("zhl_write_stats", "two_copies_twice"),
        ("zhl_write_stats", "hardcopy_log"),
    )
}


def parse(
    name: str, content: bytes, *, complete: bool = True, position: Position | None = None, size: int = 2**16
) -> list[Item]:
    context = Context("file", UTC, system="SYS1", complete=complete)
    return list(formats()[name.split("/")[0]].parse(Trickle(content, size), context, position))


@pytest.mark.parametrize("name", INPUTS)
@given(data=st.data())
def test_a_split_anywhere_changes_nothing(name: str, data: st.DataObject) -> None:
    content = INPUTS[name]
    cut = data.draw(st.integers(0, len(content)))
    first = parse(name, content[:cut], complete=False, size=data.draw(st.integers(1, 200)))
    position = newest_position(first)
    assert found(first) + found(parse(name, content, position=position)) == found(parse(name, content))


@pytest.mark.parametrize("name", INPUTS)
@given(data=st.data())
def test_damage_anywhere_raises_nothing(name: str, data: st.DataObject) -> None:
    content = bytearray(INPUTS[name])
    begin = data.draw(st.integers(0, len(content) - 1))
    content[begin : begin + data.draw(st.integers(0, 40))] = data.draw(st.binary(max_size=40))
    for item in parse(name, bytes(content)):
        if isinstance(item, Record):
            orjson.dumps(item.fields)
            assert None not in item.fields.values()


@pytest.mark.parametrize("name", INPUTS)
def test_it_is_recognised(name: str) -> None:
    assert recognise(INPUTS[name]) is formats()[name.split("/")[0]]


@given(st.lists(st.tuples(st.integers(-30, 200), st.integers(-500, 10**6)), min_size=1, max_size=12))
def test_a_row_carries_the_running_count_of_the_row_before(steps: list[tuple[int, int]]) -> None:
    """Every row is a record or a reject; only two rows of one run and one cadence give an amount."""
    instant, count = datetime(2025, 11, 21, tzinfo=UTC), 10**7
    lines, kept = ["time_utc,sysid,ssid,QJSTCIWR"], []  # type: list[str], list[tuple[datetime, int]]
    for seconds, amount in steps:
        sample = (instant + timedelta(seconds=seconds), count + amount)
        lines.append(f"{sample[0]:%Y-%m-%dT%H:%M:%SZ},SYS1,DBP1,{sample[1]}")
        if not kept or sample[0] > kept[-1][0]:
            instant, count = sample
            kept.append(sample)
    items = parse("db2_log_csv", "\n".join([*lines, ""]).encode())
    rows = [item.fields for item in items if isinstance(item, Record) and item.dataset == "db_log"]
    refused = [item for item in items if isinstance(item, Reject) and item.kept == "none"]
    assert len(rows) == len(kept)
    assert len(rows) + len(refused) == len(steps)
    apart = [(after[0] - before[0]).total_seconds() for before, after in itertools.pairwise(kept)]
    for at, (row, (time, value)) in enumerate(zip(rows, kept, strict=True)):
        assert (row["ts"], row["ci_written"]) == (f"{time:%Y-%m-%dT%H:%M:%SZ}", value)
        usual = min(apart[max(at - 3, 0) : at - 1], default=None) if at > 1 else None
        regular = at > 0 and value >= kept[at - 1][1] and (usual is None or apart[at - 1] <= 2 * usual)
        assert ("prev_ts" in row) == regular
        if regular:
            assert (row["prev_ci_written"], row["interval_s"]) == (kept[at - 1][1], apart[at - 1])
    noted = [i.reason for i in items if isinstance(i, Reject) and i.kept == "all"]
    assert len(noted) == sum("prev_ts" not in row for row in rows[1:])
    assert set(noted) <= {Reason.RESTARTED, Reason.SAMPLE_MISSING}
