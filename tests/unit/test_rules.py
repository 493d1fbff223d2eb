"""What every rule has in common, and limits that are learned; verdicts are tested in the folder of the job of each."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterflow.pipelines.rules import log_ceiling, roce_cap, rules
from counterflow.pipelines.rules.learned import Learned
from tests.support.series import BEGIN, Replay

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


# Limits that are learned: what they come from, when they count, and what resets them

# 256 jobs on zHPF under pressure: table 1 of the study of zHyperLink, without a configured ceiling
PRESSED = {"path": "zhpf", "rate_mb_s": 214, "waits_delta": 12, "waiting_threads": 160, "active_threads": 256}
PRESSED |= {"gcp_pct": 27.2, "ziip_pct": 23.3}
CALM = {**PRESSED, "rate_mb_s": 100, "waits_delta": 0, "waiting_threads": 2}


RULE = rules()["log_ceiling"]
LOG = {"system": "SYS1", "subsystem": "DBP1"}


def learned(series: list[dict[str, Any]], gap: int | None = None) -> dict[tuple[Any, ...], dict[str, Any]]:
    """Return the figures of the limit that was learned under each configuration of the log.

    The series is of minutes; those from number `gap` on are a day later.
    """
    parameters, state = RULE.parameters(), RULE.start
    found = {}
    for number, row in enumerate(series, 1):
        late = timedelta(days=gap is not None and number > gap)
        ts = (BEGIN + timedelta(minutes=number) + late).isoformat()
        state, _ = RULE.judge(parameters, state, RULE.interval({"ts": ts, "interval_s": 60, **LOG, **row}))
        if (limit := log_ceiling.learned(parameters, state)) is not None:
            found[state.learned.configuration] = limit.as_json("learned_mb_s")
    return found


@given(st.lists(st.floats(1e-6, 1e12), min_size=1), st.sets(st.sampled_from([0.1, 0.5, 0.9, 0.995]), min_size=1))
def test_a_quantile_is_a_value_to_half_a_percent(values: list[float], shares: set[float]) -> None:
    learned = Learned()
    for value in values:
        learned = learned.plus(value)
    expected = [
        next(value for value in sorted(values) if sum(v <= value for v in values) >= share * len(values))
        for share in sorted(shares)
    ]
    assert learned.quantiles(*sorted(shares)) == pytest.approx(expected, rel=0.0051)
    assert learned.intervals == len(values)


def test_thirty_intervals_under_pressure_make_a_ceiling_that_warns_and_never_pages() -> None:
    verdicts = Replay(RULE, LOG, interval_s=60).verdicts([PRESSED] * 40)
    assert {v.state for v in verdicts[:30]} == {"UNKNOWN"}
    assert "learned from 29 of 30 intervals under pressure" in verdicts[29].reason
    assert {v.state for v in verdicts[32:]} == {"WARNING"}
    assert "learned 21" in verdicts[-1].reason
    assert "warns at most" in verdicts[-1].reason


@pytest.mark.parametrize(
    "row",
    [
        CALM,  # nobody waits
        {**PRESSED, "gcp_pct": 95.0},  # the processors are the limit
        {**PRESSED, "gcp_pct": None},
        {**PRESSED, "path": None},
        {**PRESSED, "path": "zhl", "zhl_sync_pct": 4.0},  # fallen back
    ],
)
def test_nothing_is_learned_from_what_is_no_ceiling(row: dict[str, Any]) -> None:
    assert learned([row] * 40) == {}


def test_path_and_changes_of_the_site_begin_a_limit_of_their_own() -> None:
    january = {"ceiling_since": "2026-01-01T00:00:00Z"}
    later = {"ceiling_since": "2026-11-21T01:40:00Z"}
    fast = {**PRESSED, **later, "path": "zhl", "rate_mb_s": 594, "zhl_sync_pct": 100.0}
    series = [*[{**PRESSED, **january}] * 40, *[{**PRESSED, **later, "rate_mb_s": 260}] * 35, *[fast] * 31]
    found = [(path, str(since)[:19], row["learned_intervals"]) for (path, since), row in learned(series).items()]
    assert found == [
        ("zhpf", "2026-01-01T00:00:00", 40),
        ("zhpf", "2026-11-21T01:40:00", 35),
        ("zhl", "2026-11-21T01:40:00", 31),
    ]


def test_a_time_that_is_not_known_is_no_change() -> None:
    series = [*[PRESSED] * 5, *[{**PRESSED, "ceiling_since": "2026-01-01T00:00:00Z"}] * 5, *[PRESSED] * 5]
    assert [row["learned_intervals"] for row in learned(series).values()][-1] == 15


def test_confidence_grows_with_intervals_and_falls_with_spread() -> None:
    grown = [row for n in (29, 30, 150) for row in learned([PRESSED] * n).values()]
    assert [row["learned_confidence"] for row in grown] == ["low", "medium", "high"]
    (row,) = learned([{**PRESSED, "rate_mb_s": rate} for rate in (214, 150, 150)] * 60).values()
    # (214 - 150) / 214
    assert row["learned_spread"] == pytest.approx(0.299, abs=0.01)
    assert row["learned_confidence"] == "low"


def test_a_silence_does_not_forget_what_was_learned() -> None:
    (row,) = learned([PRESSED] * 40, gap=35).values()
    assert row["learned_intervals"] == 40


def link(own_gb_s: float, physical_gb_s: float) -> dict[str, Any]:
    """Return a link of both directions together; capacity 3 % of 100 Gb/s is 0.375 GB/s a direction."""
    half = {"own_out_bytes_s": own_gb_s * 5e8, "own_in_bytes_s": own_gb_s * 5e8}
    physical = {"phys_out_bytes_s": physical_gb_s * 5e8, "phys_in_bytes_s": physical_gb_s * 5e8}
    return {**half, **physical, "own_msgs_s": own_gb_s * 1e9 / 290, "line_bits_s": 100e9, "capacity_pct": 3}


def test_the_share_at_which_the_hypervisor_holds_a_link_is_learned() -> None:
    rule = rules()["roce_cap"]
    parameters, state = rule.parameters(), rule.start
    for number, columns in enumerate([*[link(1.2, 22.0)] * 10, *[link(0.5, 23.0)] * 40]):
        ts = (BEGIN + timedelta(seconds=30 * number)).isoformat()
        state, verdict = rule.judge(parameters, state, rule.interval({"ts": ts, "interval_s": 30, **columns}))
    assert verdict.state == "CAPPED"
    limit = roce_cap.learned(parameters, state)
    assert limit is not None
    assert limit.value == pytest.approx(0.25 / 0.375, rel=0.0051)
    assert (limit.intervals, limit.confidence) == (40, "medium")
    assert verdict.evidence.as_json()["figures"]["learned_intervals"] == 39
