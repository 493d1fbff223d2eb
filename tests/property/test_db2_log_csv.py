"""Running counts of Db2's log, db2_log_csv, against an independent computation."""

from __future__ import annotations

import io
import itertools
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from counterflow.collectors.formats import formats
from counterflow.collectors.records import Context, Reason, Record, Reject


@given(st.lists(st.tuples(st.integers(-30, 200), st.integers(-500, 10**6)), min_size=1, max_size=12))
def test_a_row_carries_the_running_count_of_the_row_before(steps: list[tuple[int, int]]) -> None:
    """Every row is a record or a reject; counts stand beside those before; over a gap, a row lasts the usual time."""
    instant, count = datetime(2025, 11, 21, tzinfo=UTC), 10**7
    lines, kept = ["time_utc,sysid,ssid,QJSTCIWR"], []  # type: list[str], list[tuple[datetime, int]]
    for seconds, amount in steps:
        sample = (instant + timedelta(seconds=seconds), count + amount)
        lines.append(f"{sample[0]:%Y-%m-%dT%H:%M:%SZ},SYS1,DBP1,{sample[1]}")
        if not kept or sample[0] > kept[-1][0]:
            instant, count = sample
            kept.append(sample)
    content = io.BytesIO("\n".join([*lines, ""]).encode())
    items = list(formats()["db2_log_csv"].parse(content, Context("file", UTC, system="SYS1")))
    rows = [item.fields for item in items if isinstance(item, Record) and item.dataset == "db_log"]
    refused = [item for item in items if isinstance(item, Reject) and item.kept == "none"]
    assert len(rows) == len(kept)
    assert len(rows) + len(refused) == len(steps)
    apart = [(after[0] - before[0]).total_seconds() for before, after in itertools.pairwise(kept)]
    expected: list[Reason] = []
    for at, (row, (time, value)) in enumerate(zip(rows, kept, strict=True)):
        assert (row["ts"], row["ci_written"]) == (f"{time:%Y-%m-%dT%H:%M:%SZ}", value)
        usual = min(apart[max(at - 3, 0) : at - 1], default=None) if at > 1 else None
        fell = at > 0 and value < kept[at - 1][1]
        assert ("prev_ts" in row) == (at > 0)
        gap = at > 0 and not fell and usual is not None and apart[at - 1] > 2 * usual
        if at:
            length = usual if gap else apart[at - 1]
            assert (row["prev_ci_written"], row["interval_s"]) == (kept[at - 1][1], length)
        expected += [Reason.RESTARTED] if fell else [Reason.SAMPLE_MISSING] if gap else []
    assert [i.reason for i in items if isinstance(i, Reject) and i.kept == "all"] == expected
