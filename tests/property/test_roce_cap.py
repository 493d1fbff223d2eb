"""Whatever the counters: no cap without the physical load, and a state carried as JSON changes no verdict."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import orjson
from hypothesis import given
from hypothesis import strategies as st

from counterflow.pipelines.rules import Verdict
from counterflow.pipelines.rules.roce_cap import RULE, LinkInterval, LinkState, Parameters

BEGIN = datetime(2026, 11, 21, tzinfo=UTC)
STATES = {"OK", "DEMAND_LIMITED", "LIKELY", "SUSPECTED", "CAPPED", "UNKNOWN"}


@st.composite
def series(draw: st.DrawFn, known: bool | None = None) -> list[LinkInterval]:
    """Draw runs of similar intervals around the thresholds; physical load known, unknown or (None) mixed."""
    intervals, ts = [], BEGIN
    for _ in range(draw(st.integers(1, 12))):
        own, others = draw(st.sampled_from([0.0, 0.3, 0.8, 0.97, 1.2])), draw(st.sampled_from([15.0, 20.8, 21.4]))
        seen = draw(st.booleans()) if known is None else known
        change = draw(st.sampled_from([{}, {}, {"reset": True}, {"capacity_pct": 10}, {"failover": True}]))
        columns: dict[str, Any] = {
            "interval_s": 30,
            "own_out_bytes_s": own * 5e8,
            "own_in_bytes_s": own * 5e8,
            "own_msgs_s": own * 3e6,
            "phys_out_bytes_s": (own + others) * 5e8 if seen else None,
            "phys_in_bytes_s": (own + others) * 5e8 if seen else None,
            "line_bits_s": 1e11,
            "capacity_pct": 5,
            "backlog_jobs": draw(st.sampled_from([None, 80, 40])),
            "drops_s": draw(st.sampled_from([None, 0, 3])),
            **change,
        }
        for _ in range(draw(st.integers(1, 7))):
            ts += timedelta(seconds=draw(st.sampled_from([30, 30, 30, 60, 90])))
            intervals.append(RULE.interval({"ts": ts.isoformat(), **columns}))
    return intervals


def judged(intervals: list[LinkInterval], state: LinkState = RULE.start, *, carried: bool = False) -> list[Verdict]:
    verdicts = []
    for interval in intervals:
        if carried:
            state = LinkState.of_json(orjson.loads(orjson.dumps(state.as_json())))
        state, verdict = RULE.judge(Parameters(), state, interval)
        verdicts.append(verdict)
    return verdicts


@given(series(known=False))
def test_without_the_physical_load_nothing_is_capped_or_limited_by_demand(intervals: list[LinkInterval]) -> None:
    verdicts = judged(intervals)
    assert {v.state for v in verdicts} | {v.signal for v in verdicts if v.signal} <= {"UNKNOWN", "SUSPECTED"}


@given(series())
def test_nothing_becomes_capped_in_an_interval_of_unknown_load(intervals: list[LinkInterval]) -> None:
    before = "OK"
    for interval, verdict in zip(intervals, judged(intervals), strict=True):
        if interval.phys_out_bytes_s is None:
            assert verdict.signal != "CAPPED"
            assert verdict.state != "CAPPED" or before == "CAPPED"
        before = verdict.state


@given(series())
def test_judging_again_or_with_the_state_carried_as_json_gives_the_same(intervals: list[LinkInterval]) -> None:
    assert judged(intervals) == judged(intervals) == judged(intervals, carried=True)


@given(series())
def test_every_verdict_is_whole(intervals: list[LinkInterval]) -> None:
    before, capacity = "UNKNOWN", intervals[0].capacity_pct
    for interval, verdict in zip(intervals, judged(intervals), strict=True):
        assert verdict.state in STATES
        assert verdict.reason
        assert (verdict.signal is None) == verdict.stale
        if verdict.stale:
            kept = verdict.state == before or interval.failover or interval.capacity_pct != capacity
            assert verdict.state == "UNKNOWN" or (kept and verdict.state in ("SUSPECTED", "CAPPED"))
        elif verdict.state not in ("SUSPECTED", "CAPPED", verdict.signal):
            assert verdict.signal in ("SUSPECTED", "CAPPED"), "only a signal to be raised may differ from the state"
        orjson.dumps(verdict.evidence.as_json())
        before, capacity = verdict.state, interval.capacity_pct
