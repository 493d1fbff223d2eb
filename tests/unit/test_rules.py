"""What every rule has in common; the verdicts of each are tested in the folder of its job."""

from __future__ import annotations

from typing import Any

import pytest

from counterflow.pipelines.rules import rules

INTERVALS = {
    "roce_cap": {"own_out_bytes_s": 6e8, "own_in_bytes_s": 6e8, "own_msgs_s": 4e6, "capacity_pct": 5},
    "log_ceiling": {"path": "zhpf", "rate_mb_s": 196, "ceiling_mb_s": 200, "waits_delta": 12},
}


@pytest.mark.parametrize("name", rules())
@pytest.mark.parametrize("second", [60, 120])
def test_an_interval_that_is_not_newer_than_the_last_changes_nothing(name: str, second: int) -> None:
    rule = rules()[name]
    newest, other = (
        rule.interval({"ts": f"2026-11-21T01:{at // 60:02}:00Z", "interval_s": 60, **INTERVALS[name]})
        for at in (120, second)
    )
    state, _ = rule.judge(rule.parameters(), rule.start, newest)
    after, verdict = rule.judge(rule.parameters(), state, other)
    assert after == state
    assert (verdict.signal, verdict.stale) == (None, True)


@pytest.mark.parametrize("name", rules())
@pytest.mark.parametrize(
    ("minute", "columns", "why"),
    [
        (3, {}, None),
        (4, {}, None),  # one is missing: not more than twice the usual interval
        (5, {}, "180 s since the preceding interval, more than 2 x 60 s"),
        (5, {"interval_s": 180}, "180 s since the preceding interval, more than 2 x 60 s"),
        (3, {"interval_s": 121}, "121 s since the preceding interval, more than 2 x 60 s"),
        (3, {"interval_s": None}, "length of the interval unknown"),
        (3, {"reset": True}, "the counters restarted"),
    ],
)
def test_an_interval_after_a_gap_or_a_restart_or_of_unknown_length_has_no_verdict(
    name: str, minute: int, columns: dict[str, Any], why: str | None
) -> None:
    """The interval before ended at minute 2."""
    rule, state = rules()[name], rules()[name].start
    for at, more in ((2, {}), (minute, columns)):
        row = {"ts": f"2026-11-21T01:{at:02}:00Z", "interval_s": 60, **INTERVALS[name], **more}
        state, verdict = rule.judge(rule.parameters(), state, rule.interval(row))
    assert (verdict.stale, verdict.signal is None) == (why is not None, why is not None)
    assert (why or "") in verdict.reason
