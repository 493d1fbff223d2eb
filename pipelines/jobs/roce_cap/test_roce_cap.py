"""The cap verdict against its definition: eight measured runs of Db2 Mirror, tables 7-4 and 7-5, and made-up series."""

from __future__ import annotations

from dataclasses import fields
from datetime import timedelta
from itertools import product
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterflow.pipelines.rules import rules
from counterflow.pipelines.rules.roce_cap import LinkInterval
from tests.support.series import BEGIN, GAP, Replay

RULE = rules()["roce_cap"]
REPLAY = Replay(RULE, {"system": "a", "link": "roce0"}, interval_s=30)
replay, states, signals = REPLAY.verdicts, REPLAY.states, REPLAY.signals
GB_S = 1e9

# (capacity %, interfering threads): own OUT, IN, messages; interfering OUT, IN; all OUT, IN, in Gb/s as printed in
# table 7-5; rows/s of table 7-4
RUNS = {
    (3, 8): (4.49, 4.57, 4278626, 83.47, 83.96, 87.96, 88.53, 416049),
    (3, 9): (5.70, 4.75, 4613528, 83.53, 83.98, 89.23, 88.73, 415318),
    (3, 10): (1.86, 1.90, 1759392, 87.29, 87.89, 89.15, 89.79, 177259),
    (3, 11): (2.03, 1.98, 1819434, 87.28, 87.89, 89.31, 89.87, 177339),
    (6, 8): (4.93, 4.67, 4525618, 83.51, 83.93, 88.44, 88.60, 417753),
    (6, 9): (4.38, 4.83, 4339698, 83.57, 83.95, 87.95, 88.79, 416458),
    (6, 10): (4.45, 3.79, 3824974, 84.54, 89.06, 88.98, 92.84, 352851),
    (6, 11): (3.71, 3.93, 3545200, 84.54, 85.02, 88.25, 88.96, 352804),
}
CAPPED_RUNS = {(3, 10), (3, 11), (6, 10), (6, 11)}  # throughput fell between 9 and 10 threads
GB = {"2^30": 2**30, "10^9": 10**9}


def run(setting: int, threads: int, gb: int = 10**9, printed: bool = True) -> dict[str, Any]:
    """Return a measured run as columns, with the physical total as printed or as the sum of both tables' halves."""
    out, in_, msgs, other_out, other_in, all_out, all_in, rows = RUNS[setting, threads]
    physical = (all_out, all_in) if printed else (out + other_out, in_ + other_in)
    return {
        "own_out_bytes_s": out * gb / 8,
        "own_in_bytes_s": in_ * gb / 8,
        "own_msgs_s": msgs,
        "phys_out_bytes_s": physical[0] * gb / 8,
        "phys_in_bytes_s": physical[1] * gb / 8,
        "line_bits_s": 100e9,
        "capacity_pct": setting,
        "link_count": 1,
        "rows_s": rows,
    }


def made(own: float, physical: float | None, msgs: float | None = None, **more: Any) -> dict[str, Any]:
    """Return a link with 5 % of a 100 Gb/s line, rates in GB/s, half out and half in; 290 bytes a message.

    The line carries 12.5 GB/s each way, so that a `physical` of 22 (of 25) is a share of .88 of the line, and an own
    share s of the capacity is own / physical / .05.
    """
    half = None if physical is None else physical / 2 * GB_S
    return {
        "own_out_bytes_s": own / 2 * GB_S,
        "own_in_bytes_s": own / 2 * GB_S,
        "own_msgs_s": own * GB_S / 290 if msgs is None else msgs,
        "phys_out_bytes_s": half,
        "phys_in_bytes_s": half,
        "line_bits_s": 100e9,
        "capacity_pct": 5,
        "link_count": 2,
        **more,
    }


# with `made`, own 1.2 of physical 22 is s 1.09; own 0.8 of 22.2 is s .72, down to .67, others up from 20.8 to 21.4
FREE = made(1.2, 22.0)
HELD = made(0.8, 22.2)
RESET = {**made(0, None), **dict.fromkeys(("own_out_bytes_s", "own_in_bytes_s", "own_msgs_s")), "reset": True}

# after a baseline of the 8- or 9-thread run or none; Gb of 2^30 or 10^9; totals printed or added
CASES = [(row, baseline, gb, printed) for row, baseline, gb, printed in product(RUNS, (8, 9, None), GB, (True, False))]


@pytest.mark.parametrize(("row", "baseline", "gb", "printed"), CASES)
def test_every_measured_run_is_judged_right(row: tuple[int, int], baseline: int | None, gb: str, printed: bool) -> None:
    setting, _ = row
    before = [] if baseline is None else [run(setting, baseline, GB[gb], printed)] * 12
    verdicts = replay([*before, *[run(*row, GB[gb], printed)] * 4])[len(before) :]
    if row not in CAPPED_RUNS:
        assert {(v.signal, v.state) for v in verdicts} == {("OK", "OK")}
    elif baseline is None:
        assert {(v.signal, v.state) for v in verdicts} == {("LIKELY", "LIKELY")}
    else:
        assert [v.signal for v in verdicts] == ["CAPPED"] * 4
        assert [v.state for v in verdicts] == ["OK", "OK", "CAPPED", "CAPPED"]
    assert not any(v.stale for v in verdicts)


def test_the_evidence_holds_what_decided() -> None:
    evidence = replay([run(3, 8)] * 10 + [run(3, 10)] * 3)[-1].evidence.as_json()
    figures = evidence["figures"]
    own, physical = 1.86 + 1.90, 89.15 + 89.79
    assert evidence["rule"] == 5
    assert (evidence["inputs"]["own_msgs_s"], evidence["inputs"]["rows_s"]) == (1759392, 177259)
    assert figures["util"] == pytest.approx(0.8979)
    assert figures["share"] == pytest.approx(own / physical / 0.03)
    assert figures["baseline_own_bytes_s"] == pytest.approx((4.49 + 4.57) * GB_S / 8)
    assert figures["baseline_own_msgs_s"] == 4278626
    assert figures["others_bytes_s"] == pytest.approx((physical - own) * GB_S / 8)
    assert figures["baseline_others_bytes_s"] == pytest.approx((87.96 + 88.53 - 4.49 - 4.57) * GB_S / 8)
    assert evidence["thresholds"] == {
        "util_threshold": 0.85,
        "share_low": 0.55,
        "share_high": 0.81,
        "drop_ratio": 0.90,
        "others_risen": 1.005,
        "raise_after": 3,
    }


# --- one interval -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("columns", "signal", "rule"),
    [
        (made(1.2, 21.0), "OK", 1),  # .84 of the line
        (made(1.2, 18.0, capacity_pct=None), "OK", 1),  # a light load is OK whatever the capacity
        (made(0.1, 21.0), "OK", 1),  # a quiet adapter comes before the low share
        (made(0.1, 22.0), "DEMAND_LIMITED", 2),
        (made(0.03 * 0.05 * 22, 22.0), "DEMAND_LIMITED", 2),  # idle: s = .03
        (made(1.2, 22.0), "OK", 3),
        ({**FREE, "phys_out_bytes_s": 12.0 * GB_S, "phys_in_bytes_s": 5.0 * GB_S}, "OK", 3),  # the busier direction
        (made(0.8, 22.0), "LIKELY", 4),
        (made(0.8, None), "UNKNOWN", 6),  # unknown load: no verdict to be had without a baseline
    ],
)
def test_a_single_interval_without_a_baseline(columns: dict[str, Any], signal: str, rule: int) -> None:
    [verdict] = replay([columns])
    assert (verdict.signal, verdict.state, verdict.evidence.as_json()["rule"]) == (signal, signal, rule)


@pytest.mark.parametrize(
    ("before", "columns", "signal"),
    [
        (FREE, HELD, "CAPPED"),
        (FREE, made(0.8, 21.6), "OK"),  # others 20.8, not risen
        (FREE, made(0.8, 0.8 + 20.8 * 1.004), "OK"),
        (FREE, made(0.8, 0.8 + 20.8 * 1.006), "CAPPED"),
        (FREE, made(0.8, 22.2, msgs=1.2 * GB_S / 290), "OK"),  # bytes fell, messages did not
        (made(0.9, 22.0), made(0.85, 22.3, msgs=1.0), "OK"),  # messages fell, bytes to .94 only
    ],
)
def test_a_cap_needs_a_fall_of_bytes_and_messages_and_a_rise_of_the_others(
    before: dict[str, Any], columns: dict[str, Any], signal: str
) -> None:
    assert signals([*[before] * 10, columns])[-1] == signal


# --- series -----------------------------------------------------------------------------------------------------------

RAISED = [*[FREE] * 10, *[HELD] * 3]
DOWN = made(0.8, 15.0)  # demand fell, on a quiet adapter
BLIND, BLIND_HELD = made(1.2, None, backlog_jobs=80), made(0.8, None, backlog_jobs=80)
KNOWN = {**FREE, "backlog_jobs": 80}
OTHER_LINKS = {"link_count": 1}

# what happens: (series, the last states)
STORIES: dict[str, tuple[list[dict[str, Any] | None], list[str]]] = {
    "raised after three and cleared after five": (
        [*RAISED, HELD, *[FREE] * 6], [*["OK"] * 12, *["CAPPED"] * 6, *["OK"] * 2]),
    "two intervals raise nothing": ([*[FREE] * 10, *[HELD, HELD, FREE] * 5], ["OK"] * 25),
    "clearing needs five in a row": (
        [*RAISED, *[FREE] * 4, HELD, *[FREE] * 5], [*["CAPPED"] * 10, "OK"]),
    "cleared by a share of .874": ([*RAISED, *[made(0.97, 22.2)] * 5], [*["CAPPED"] * 4, "OK"]),
    "cleared by own bytes at .958 of the baseline": ([*RAISED, *[made(1.15, 25.0)] * 5], [*["CAPPED"] * 4, "OK"]),
    "cleared by a load of .79 of the line": ([*RAISED, *[made(0.8, 19.8)] * 5], [*["CAPPED"] * 4, "OK"]),
    "cleared by the end of the job, a share of .45": (
        [*RAISED, *[made(0.5, 22.2)] * 5], [*["CAPPED"] * 4, "DEMAND_LIMITED"]),
    "conditions for leaving take turns": (
        [*RAISED, made(0.97, 22.2), made(0.5, 22.2), made(0.8, 19.8), FREE, made(0.5, 22.2)],
        ["CAPPED", "DEMAND_LIMITED"]),
    "a share of .84 is above .81 but not .87": ([*RAISED, *[made(0.93, 22.2)] * 20], ["CAPPED"] * 21),
    "a load of .82 is below .85 but not .80": ([*RAISED, *[made(0.8, 20.5)] * 20], ["CAPPED"] * 21),
    "others have not risen any more": ([*RAISED, *[made(0.8, 21.6)] * 20], ["CAPPED"] * 21),
    "limited demand shows at once": (
        [FREE, made(0.1, 22.0), FREE, made(0.1, 22.0)], ["OK", "DEMAND_LIMITED", "OK", "DEMAND_LIMITED"]),
    "an idle link beside busy neighbours": ([made(0.01, 23.0)] * 40, ["DEMAND_LIMITED"] * 40),
    "neighbours grow until the cap bites, and a doubled capacity, of which s is .54, clears it": (
        [*[made(1.2, 18.0)] * 10, *[made(1.2, 22.0)] * 10, *[HELD] * 10, *[made(1.2, 22.2, capacity_pct=10)] * 3],
        [*["OK"] * 22, *["CAPPED"] * 8, *["DEMAND_LIMITED"] * 3]),
    "a doubled capacity begins anew, without a history": (
        [*RAISED, made(1.6, 22.2, capacity_pct=10)], ["CAPPED", "LIKELY"]),
    "a step down on a quiet adapter is no cap": ([*[made(1.2, 18.0)] * 10, *[made(0.6, 17.4)] * 30], ["OK"] * 40),
    "a step down beside full neighbours is demand": (
        [*[FREE] * 10, *[made(0.3, 22.0)] * 10], ["OK", *["DEMAND_LIMITED"] * 10]),
    "a batch of four intervals does not move the median of ten": (
        [*[made(1.0, 22.0)] * 10, *[made(3.0, 23.0)] * 4, *[made(1.0, 22.0)] * 10], ["OK"] * 24),
    "a resynchronisation moves the baseline, and its end beyond the band is no cap": (
        [*[made(1.0, 22.0)] * 10, *[made(3.0, 23.0)] * 30, *[made(1.0, 22.0)] * 30], ["OK"] * 70),
    "a short history is a baseline": ([FREE, *[HELD] * 3], ["CAPPED"]),
    "a cap of hours stays raised": ([*[FREE] * 10, *[HELD] * 500], ["CAPPED"] * 498),
    "a freeze begins anew after a recovery": (
        [*[FREE] * 10, *[DOWN] * 100, FREE, *[DOWN] * 100, *[HELD] * 3], ["CAPPED"]),
    "one missing interval keeps the counts": ([*[FREE] * 10, HELD, HELD, GAP, HELD], ["CAPPED"]),
    "unusable intervals are a silence too": (
        [*RAISED, *[RESET] * 130], [*["OK"] * 12, *["CAPPED"] * 122, *["UNKNOWN"] * 9]),
    "a reset gives no verdict and keeps a raised state and counts": (
        [*[FREE] * 10, HELD, HELD, RESET, HELD, RESET, *[FREE] * 5], ["OK", "OK", "UNKNOWN", *["CAPPED"] * 6, "OK"]),
    "a raised state outlives an hour of silence": ([*RAISED, *[GAP] * 120, HELD], ["CAPPED"] * 2),
    "but no more: judged by itself, without a baseline": ([*RAISED, *[GAP] * 121, HELD], ["CAPPED", "LIKELY"]),
    "own rates unknown give no verdict": ([*RAISED, {**HELD, "own_in_bytes_s": None}], ["CAPPED"] * 2),
    "counts begin anew with another configuration": (
        [*[FREE] * 10, HELD, HELD, {**FREE, **OTHER_LINKS}, *[{**HELD, **OTHER_LINKS}] * 3], ["OK", "OK", "CAPPED"]),
    "an unknown configuration is no change": (
        [*[FREE] * 10, {**FREE, "link_count": None, "capacity_pct": None}, *[HELD] * 3], ["CAPPED"]),
    "with the backlog kept a drop is suspected": (
        [*[BLIND] * 10, *[BLIND_HELD] * 4, *[BLIND] * 5], [*["UNKNOWN"] * 12, *["SUSPECTED"] * 6, "UNKNOWN"]),
    "others unknown in the baseline count as risen": (
        [*[made(1.2, None)] * 10, *[made(0.8, 21.6)] * 3], ["CAPPED"]),
    "a suspicion is confirmed by the physical load": (
        [*[BLIND] * 10, *[BLIND_HELD] * 3, *[HELD] * 3], ["SUSPECTED", "SUSPECTED", "CAPPED"]),
    "an unknown load takes no cap back": ([*[KNOWN] * 10, *[HELD] * 3, *[BLIND_HELD] * 9], ["CAPPED"] * 10),
    "two signals do not add up, nor does a state outlive its inputs": (
        [*[KNOWN] * 10, HELD, HELD, BLIND_HELD, BLIND_HELD, HELD, HELD], ["OK", "OK", *["UNKNOWN"] * 4]),
}  # fmt: skip


@pytest.mark.parametrize(("series", "shown"), STORIES.values(), ids=STORIES)
def test_a_series_ends_in_these_states(series: list[dict[str, Any] | None], shown: list[str]) -> None:
    assert states(series)[-len(shown) :] == shown


def test_intervals_of_an_hour_are_no_silence() -> None:
    assert states([*RAISED, HELD], interval_s=3600)[-1] == "CAPPED"


# --- baseline ---------------------------------------------------------------------------------------------------------


def test_the_baseline_is_the_median_of_what_there_is() -> None:
    """Neither the mean nor the newest: a burst counts as one interval."""
    loads = [1.00, 5.00, 4.90, 1.02, 1.01]
    baselines = [
        v.evidence.as_json()["figures"]["baseline_own_bytes_s"] for v in replay([made(own, 18.0) for own in loads])
    ]
    # 5.00 and 4.90 enter; against their medians of 3.00 and 4.90 the next two are drops, which do not
    assert baselines[0] is None
    assert baselines[1:] == pytest.approx([b * GB_S for b in (1.00, 3.00, 4.90, 4.90)])


def test_the_window_slides() -> None:
    verdict = replay([made(1 + number / 100, 18.0) for number in range(25)])[-1]
    # the ten before the last: 1.14 to 1.23
    assert verdict.evidence.as_json()["figures"]["baseline_own_bytes_s"] == pytest.approx(1.185 * GB_S)


def test_the_window_takes_neither_demand_limited_nor_dropped_nor_raised_intervals() -> None:
    quiet, down = made(0.1, 22.0), made(0.9, 18.0)
    verdict = replay([FREE, *[quiet] * 5, *[down] * 5, *[HELD] * 5, FREE])[-1]
    assert verdict.evidence.as_json()["figures"]["baseline_intervals"] == 1
    assert verdict.evidence.as_json()["figures"]["baseline_own_bytes_s"] == pytest.approx(1.2 * GB_S)


def test_a_drop_freezes_the_baseline_for_an_hour_at_most() -> None:
    """Demand fell for good on a quiet adapter; 120 intervals of 30 s later the new level is the baseline."""
    figures = [v.evidence.as_json()["figures"] for v in replay([*[FREE] * 10, *[DOWN] * 135])]
    baselines = [f["baseline_own_bytes_s"] for f in figures]
    assert baselines[10 : 10 + 121] == pytest.approx([1.2 * GB_S] * 121)
    assert baselines[-1] == pytest.approx(0.8 * GB_S)
    # down is the new normal: as low beside full neighbours it is no drop any more
    series = [*[FREE] * 10, *[DOWN] * 135, *[HELD] * 5]
    assert signals(series)[-5:] == ["OK"] * 5
    assert signals([*[FREE] * 10, *[DOWN] * 100, *[HELD] * 5])[-5:] == ["CAPPED"] * 5


# --- gaps, resets, changes --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "change", [{"capacity_pct": 5.5}, {"link_count": 1}, {"load_balance_count": 2}, {"failover": True}]
)
def test_a_change_of_configuration_begins_anew(change: dict[str, Any]) -> None:
    before = [{**columns, "load_balance_count": 1} for columns in [*[FREE] * 10, *[HELD] * 3]]
    verdict = replay([*before, {**HELD, "load_balance_count": 1, **change}])[-1]
    assert (verdict.state, verdict.signal) == ("LIKELY", "LIKELY")


# --- physical load unknown --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("columns", "signal"),
    [
        ({"backlog_jobs": 80}, "SUSPECTED"),
        ({"backlog_jobs": 90}, "SUSPECTED"),
        ({"backlog_jobs": 79}, "UNKNOWN"),  # fewer jobs: demand fell
        ({"backlog_jobs": 79, "drops_s": 5}, "UNKNOWN"),  # drops stand in for an unknown backlog only
        ({"backlog_jobs": None}, "UNKNOWN"),
        ({"backlog_jobs": None, "drops_s": 0, "rnr_nak_s": 0}, "UNKNOWN"),
        ({"backlog_jobs": None, "drops_s": 0.1}, "SUSPECTED"),
        ({"backlog_jobs": None, "rnr_nak_s": 2}, "SUSPECTED"),
        ({"own_msgs_s": 0.8 * GB_S / 290 * 0.85}, "UNKNOWN"),  # bytes a message up by 18 %: other work
        ({"own_msgs_s": 0.8 * GB_S / 290 / 0.91}, "SUSPECTED"),  # down by 9 %
        ({"own_msgs_s": 1.2 * GB_S / 290}, "UNKNOWN"),  # messages did not fall
        ({"own_msgs_s": 0}, "UNKNOWN"),
    ],
)
def test_what_rule_6_needs(columns: dict[str, Any], signal: str) -> None:
    verdict = replay([*[BLIND] * 10, {**BLIND_HELD, **columns}])[-1]
    assert verdict.signal == signal
    assert "physical load unknown" in verdict.reason


@pytest.mark.parametrize("lacking", ["phys_out_bytes_s", "phys_in_bytes_s", "line_bits_s", "capacity_pct"])
def test_without_any_input_of_the_share_nothing_is_capped_or_ok(lacking: str) -> None:
    """Neither is it stale: the next interval with all inputs is judged against this baseline."""
    held = {**HELD, "backlog_jobs": 80, lacking: None}
    assert states([*[KNOWN] * 10, *[held] * 9])[-1] == "SUSPECTED"
    [*_, verdict] = replay([{**FREE, lacking: None}] * 10)
    assert (verdict.state, verdict.signal, verdict.stale) == ("UNKNOWN", "UNKNOWN", False)
    assert "unknown" in verdict.reason


def test_a_backlog_unknown_in_the_baseline_is_unknown() -> None:
    assert signals([*[made(1.2, None)] * 10, BLIND_HELD])[-1] == "UNKNOWN"


def test_a_suspicion_that_is_not_raised_yet_is_unknown() -> None:
    """The physical load went missing while the link's own bytes fell: nothing shows that the link is still OK."""
    verdicts = replay([*[KNOWN] * 10, BLIND_HELD, BLIND_HELD])
    assert [(v.state, v.signal) for v in verdicts[9:]] == [("OK", "OK"), *[("UNKNOWN", "SUSPECTED")] * 2]
    assert "physical load unknown" in verdicts[-1].reason


# --- parameters -------------------------------------------------------------------------------------------------------

OTHER_WORK, FEWER_JOBS = {"own_msgs_s": 0.8 * GB_S / 290 * 0.85}, {"backlog_jobs": 40}
DROPS, NAKS = {"backlog_jobs": None, "drops_s": 5}, {"backlog_jobs": None, "rnr_nak_s": 5}
# name: (another value, series, the last state, that with the other value)
LATER: dict[str, tuple[str, list[Any], str, str]] = {
    "util_threshold": ("0.95", RAISED, "CAPPED", "OK"),
    "share_low": ("0.75", RAISED, "CAPPED", "DEMAND_LIMITED"),
    "share_high": ("0.70", RAISED, "CAPPED", "OK"),
    "drop_ratio": ("0.60", RAISED, "CAPPED", "OK"),
    "others_risen": ("1.05", RAISED, "CAPPED", "OK"),
    "message_tolerance": ("0.20", [*[BLIND] * 10, *[{**BLIND_HELD, **OTHER_WORK}] * 3], "UNKNOWN", "SUSPECTED"),
    "backlog_kept": ("0.5", [*[BLIND] * 10, *[{**BLIND_HELD, **FEWER_JOBS}] * 3], "UNKNOWN", "SUSPECTED"),
    "drops_over_s": ("5", [*[BLIND] * 10, *[{**BLIND_HELD, **DROPS}] * 3], "SUSPECTED", "UNKNOWN"),
    "rnr_nak_over_s": ("5", [*[BLIND] * 10, *[{**BLIND_HELD, **NAKS}] * 3], "SUSPECTED", "UNKNOWN"),
    "freeze_max_s": ("0", [*[FREE] * 10, *[made(0.8, 18.0)] * 9, *[HELD] * 3], "CAPPED", "OK"),
    "baseline_window": ("1", [*[FREE] * 9, made(0.85, 18.0, msgs=9e9), *[HELD] * 3], "CAPPED", "OK"),
    "raise_after": ("4", RAISED, "CAPPED", "OK"),
    "clear_after": ("2", [*RAISED, FREE, FREE], "CAPPED", "OK"),
    "util_leave": ("0.84", [*RAISED, *[made(0.8, 20.5)] * 5], "CAPPED", "OK"),
    "share_leave": ("0.82", [*RAISED, *[made(0.93, 22.2)] * 5], "CAPPED", "OK"),
    "recover_ratio": ("0.75", [*RAISED, *[made(0.93, 22.2)] * 5], "CAPPED", "OK"),
    "gap_factor": ("1.5", [*[FREE] * 10, HELD, HELD, GAP, HELD], "CAPPED", "UNKNOWN"),
    "forget_after_s": ("60", [*RAISED, GAP, GAP, GAP, HELD], "CAPPED", "LIKELY"),
}


@pytest.mark.parametrize("name", LATER)
def test_each_parameter_does_something(name: str) -> None:
    value, series, before, after = LATER[name]
    assert states(series)[-1] == before
    assert states(series, settings={name: value})[-1] == after


def test_every_parameter_is_tested() -> None:
    names = {f.name for f in fields(RULE.parameters)}
    assert LATER.keys() | {"learn_least", "learn_spread"} == names


# --- whatever the counters --------------------------------------------------------------------------------------------


@st.composite
def series(draw: st.DrawFn) -> list[LinkInterval]:
    """Draw runs of similar intervals around the thresholds, the physical load known or unknown."""
    intervals, ts = [], BEGIN
    for _ in range(draw(st.integers(1, 12))):
        own, others = draw(st.sampled_from([0.0, 0.3, 0.8, 0.97, 1.2])), draw(st.sampled_from([15.0, 20.8, 21.4]))
        seen = draw(st.booleans())
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


@given(series())
def test_an_interval_of_unknown_load_is_suspected_at_most_and_a_cap_stays(intervals: list[LinkInterval]) -> None:
    before = "OK"
    for interval, verdict in zip(intervals, REPLAY.judged(intervals), strict=True):
        if interval.phys_out_bytes_s is None:
            assert verdict.signal in ("UNKNOWN", "SUSPECTED", None)
            assert verdict.state in ("UNKNOWN", "SUSPECTED") or verdict.state == before == "CAPPED"
        before = verdict.state


@given(series())
def test_judging_again_or_with_the_state_carried_as_stored_gives_the_same(intervals: list[LinkInterval]) -> None:
    assert REPLAY.judged(intervals) == REPLAY.judged(intervals) == REPLAY.judged(intervals, carried=True)


@given(series())
def test_every_verdict_is_whole(intervals: list[LinkInterval]) -> None:
    before, capacity = "UNKNOWN", intervals[0].capacity_pct
    for interval, verdict in zip(intervals, REPLAY.judged(intervals), strict=True):
        assert verdict.state in RULE.states
        assert verdict.reason
        assert (verdict.signal is None) == verdict.stale
        if verdict.stale:
            kept = verdict.state == before or interval.failover or interval.capacity_pct != capacity
            assert verdict.state == "UNKNOWN" or (kept and verdict.state in ("SUSPECTED", "CAPPED"))
        elif verdict.state not in ("SUSPECTED", "CAPPED", verdict.signal):
            assert verdict.signal in ("SUSPECTED", "CAPPED"), "only a signal to be raised may differ from the state"
        orjson.dumps(verdict.evidence.as_json())
        before, capacity = verdict.state, interval.capacity_pct
