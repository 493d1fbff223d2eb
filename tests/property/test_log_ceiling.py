"""Whatever the counters: CRITICAL needs pressure, a verdict needs a ceiling, and a split changes nothing."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from types import MappingProxyType
from typing import Any

import orjson
from hypothesis import given
from hypothesis import strategies as st

from counterflow.pipelines.rules import Verdict
from counterflow.pipelines.rules.log_ceiling import RULE, LogInterval, LogState, Parameters

BEGIN = datetime(2026, 11, 21, tzinfo=UTC)
STATES = {"OK", "WARNING", "CRITICAL", "PATH_DEGRADED", "STALE", "UNKNOWN"}
BLIND = {"waits_delta": None, "waiting_threads": None, "log_write_ms": None}


@st.composite
def series(draw: st.DrawFn, always: Mapping[str, Any] = MappingProxyType({})) -> list[LogInterval]:
    """Draw runs of similar intervals around the thresholds, with null figures, resets and gaps now and then."""
    intervals, ts = [], BEGIN
    for _ in range(draw(st.integers(1, 12))):
        columns: dict[str, Any] = {
            "interval_s": draw(st.sampled_from([60, 60, 60, None])),
            "path": draw(st.sampled_from(["zhpf", "zhl", "zhl", None])),
            "rate_mb_s": draw(st.sampled_from([196, 196, 191, 176, 120, 70, 0, None])),
            "ceiling_mb_s": draw(st.sampled_from([200, 200, 200, 200, None, 0])),
            "waits_delta": draw(st.sampled_from([0, 0, 3, None, -1])),
            "waiting_threads": draw(st.sampled_from([0, 10, 90, None])),
            "active_threads": draw(st.sampled_from([256, 256, 0, None])),
            "log_write_ms": draw(st.sampled_from([0.3, 0.9, None])),
            "gcp_pct": draw(st.sampled_from([30, 30, 90, None])),
            "ziip_pct": draw(st.sampled_from([30, 30, 90, None])),
            "zhl_sync_pct": draw(st.sampled_from([99, 40, 40, None])),
            "reset": draw(st.sampled_from([False, False, False, True])),
            **always,
        }
        for _ in range(draw(st.integers(1, 7))):
            ts += timedelta(seconds=draw(st.sampled_from([60, 60, 60, 120, 180, 0])))
            intervals.append(RULE.interval({"ts": ts.isoformat(), **columns}))
    return intervals


def judged(intervals: list[LogInterval], state: LogState = RULE.start, *, carried: bool = False) -> list[Verdict]:
    verdicts = []
    for interval in intervals:
        if carried:
            state = LogState.of_json(orjson.loads(orjson.dumps(state.as_json())))
        state, verdict = RULE.judge(Parameters(), state, interval)
        verdicts.append(verdict)
    return verdicts


@given(series(BLIND))
def test_without_pressure_inputs_nothing_is_worse_than_a_warning(intervals: list[LogInterval]) -> None:
    verdicts = judged(intervals)
    assert {v.state for v in verdicts} <= {"OK", "WARNING", "STALE", "UNKNOWN"}


@given(series())
def test_nothing_becomes_critical_or_degraded_without_pressure(intervals: list[LogInterval]) -> None:
    """Pressure is waits, waiting threads of a fifth of the active ones, or, where neither is known, slow log writes."""
    before = "OK"
    for i, verdict in zip(intervals, judged(intervals), strict=True):
        share = i.waiting_threads / i.active_threads if i.waiting_threads is not None and i.active_threads else None
        known = i.waits_delta is not None or share is not None
        pressed = (i.waits_delta or 0) > 0 or (share or 0) >= 0.2 or (not known and i.log_write_ms == 0.9)
        if not pressed:
            assert verdict.signal not in ("CRITICAL", "PATH_DEGRADED")
            raised = verdict.state in ("CRITICAL", "PATH_DEGRADED") and verdict.state != before
            assert not raised or before == "UNKNOWN", "an UNKNOWN of a stale interval hides the state that is kept"
        before = verdict.state


@given(series())
def test_without_a_ceiling_there_is_never_a_verdict(intervals: list[LogInterval]) -> None:
    for interval, verdict in zip(intervals, judged(intervals), strict=True):
        assert (verdict.state == "UNKNOWN") == (not interval.ceiling_mb_s) or verdict.stale
        if not interval.ceiling_mb_s:
            assert verdict.state == "UNKNOWN"
            assert verdict.signal in ("UNKNOWN", None)
            assert "no ceiling" in verdict.reason


@given(series())
def test_judging_again_or_with_the_state_carried_as_json_gives_the_same(intervals: list[LogInterval]) -> None:
    assert judged(intervals) == judged(intervals) == judged(intervals, carried=True)


@given(series())
def test_every_verdict_is_whole(intervals: list[LogInterval]) -> None:
    for verdict in judged(intervals):
        assert verdict.state in STATES
        assert verdict.reason
        assert (verdict.signal is None) == verdict.stale
        assert verdict.state != "STALE" or verdict.stale
        orjson.dumps(verdict.evidence.as_json())
