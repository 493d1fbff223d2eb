"""Running counts: the interval is that between the times of both records."""

from __future__ import annotations

from datetime import UTC, datetime

from counterflow.collectors.text.running_counts import beside


def test_the_interval_is_that_between_the_times_that_both_records_carry() -> None:
    first, second = (datetime(2026, 3, 2, 8, 0, s, us, tzinfo=UTC) for s, us in ((0, 999_900), (15, 1_100)))
    found = beside(beside(None, first, {"out_bytes": 1.0}).sample, second, {"out_bytes": 2.0})
    assert found.fields == {"interval_s": 14.002, "prev_ts": "2026-03-02T08:00:00.999Z", "prev_out_bytes": 1.0}
    assert found.sample["ts"] == "2026-03-02T08:00:15.001Z"
