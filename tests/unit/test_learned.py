"""Learned limits: what they come from, when they count, and what resets them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterflow.pipelines.rules import log_ceiling, roce_cap, rules
from counterflow.pipelines.rules.learned import Learned
from tests.support.series import Replay

BEGIN = datetime(2026, 11, 21, 1, tzinfo=UTC)
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
