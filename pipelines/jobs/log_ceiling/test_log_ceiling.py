"""The ceiling verdict against its definition: the four measured runs of zHyperLink, and made-up series."""

from __future__ import annotations

from dataclasses import fields
from datetime import timedelta
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterflow.pipelines.rules import rules
from counterflow.pipelines.rules.log_ceiling import LogInterval
from tests.support.series import BEGIN, GAP, Replay

RULE = rules()["log_ceiling"]
REPLAY = Replay(RULE, {"system": "SYS1", "subsystem": "DBP1"}, interval_s=60)
replay, states = REPLAY.verdicts, REPLAY.states

# path, MB/s of one log, GCP %, zIIP % as printed in the study "Db2 Logging Performance with zHyperLink"; 256 jobs
RUNS = {
    "z17 zHPF DS8A50": ("zhpf", 214, 27.2, 23.3),
    "z17 zHL DS8A50": ("zhl", 594, 69.4, 65.3),
    "z16 zHL DS8A50": ("zhl", 537, 75.7, 67.4),
    "z16 zHL DS8950": ("zhl", 383, 55.8, 54.0),
}
PRESSURE: dict[str, Any] = {"waits_delta": 12, "waiting_threads": 160}
CALM: dict[str, Any] = {"waits_delta": 0, "waiting_threads": 5}
BLIND: dict[str, Any] = {"waits_delta": None, "waiting_threads": None}


def made(percent: float, **more: Any) -> dict[str, Any]:
    """Return an interval at this percentage of a ceiling of 200 MB/s, without pressure, processors a quarter busy."""
    return {
        "path": "zhpf",
        "rate_mb_s": percent * 2,
        "ceiling_mb_s": 200,
        "active_threads": 256,
        "log_write_ms": None,
        "gcp_pct": 27.2,
        "ziip_pct": 23.3,
        "zhl_sync_pct": None,
        **CALM,
        **more,
    }


QUIET = made(70)
FULL = made(98, **PRESSURE)
STEADY = made(98)  # near, but nothing waits
BUSY = made(98, **PRESSURE, gcp_pct=92.0)
RESET = {**made(0), **BLIND, "rate_mb_s": None, "reset": True}
SYNC = made(70, path="zhl", zhl_sync_pct=99.5)
FALLEN = made(36, path="zhl", zhl_sync_pct=4.36, **PRESSURE)


# --- measured runs ----------------------------------------------------------------------------------------------------


def measured(name: str, share: float, **more: Any) -> dict[str, Any]:
    """Return a measured run at a share of its own rate, which is the ceiling."""
    path, rate, gcp, ziip = RUNS[name]
    used = {"gcp_pct": gcp * share, "ziip_pct": ziip * share, "zhl_sync_pct": 100.0 if path == "zhl" else None}
    return made(0, path=path, rate_mb_s=rate * share, ceiling_mb_s=rate, **used, **more)


@pytest.mark.parametrize("name", RUNS)
def test_a_measured_run_is_critical_at_its_own_rate(name: str) -> None:
    verdicts = replay([measured(name, 1.0, **PRESSURE)] * 6)
    assert [v.state for v in verdicts[:2]] != ["CRITICAL"] * 2
    assert [(v.state, v.signal) for v in verdicts[2:]] == [("CRITICAL", "CRITICAL")] * 4
    assert verdicts[-1].evidence.as_json()["rule"] == "log_ceiling_hit"


@pytest.mark.parametrize("name", RUNS)
@pytest.mark.parametrize("pressure", [CALM, PRESSURE, BLIND])
def test_a_measured_run_is_ok_at_70_percent(name: str, pressure: dict[str, Any]) -> None:
    assert {(v.state, v.signal) for v in replay([measured(name, 0.7, **pressure)] * 20)} == {("OK", "OK")}


# --- series -----------------------------------------------------------------------------------------------------------


def blind(percent: float, log_write_ms: float | None, **more: Any) -> dict[str, Any]:
    return made(percent, **BLIND, log_write_ms=log_write_ms, **more)


HIT = [FULL] * 3
PLATEAU = made(88, **PRESSURE)
BARE = {**FULL, "ceiling_mb_s": None}
QUIET_WRITES = [blind(50, ms) for ms in (0.3, 0.4, 0.3, 0.5, 0.4, 0.4, 9.0)]  # their median is 0.4 ms; their mean not
LOW = made(60)


def fallen(rate_mb_s: float, **more: Any) -> dict[str, Any]:
    """Return zHyperLink that fell back to zHPF, with its ceiling of 594 MB/s: 214 MB/s are 36 % of it."""
    return made(0, path="zhl", rate_mb_s=rate_mb_s, ceiling_mb_s=594, **{"zhl_sync_pct": 4.36, **PRESSURE, **more})


# what happens: (series, the last states)
STORIES: dict[str, tuple[list[dict[str, Any] | None], list[str]]] = {
    "critical needs three in a row": ([*[QUIET] * 3, *HIT], [*["OK"] * 5, "CRITICAL"]),
    "two in a row, again and again, warn at most": ([*[QUIET] * 3, *[FULL, FULL, QUIET] * 6], ["WARNING"] * 14),
    "a steady demand near the ceiling warns": ([STEADY] * 30, [*["OK"] * 2, *["WARNING"] * 28]),
    "near in two of five": ([*[LOW] * 5, STEADY, LOW, STEADY, LOW, LOW], ["OK"] * 10),
    "near in three of five": ([*[LOW] * 5, STEADY, LOW, STEADY, LOW, STEADY], ["OK", "WARNING"]),
    "near in three of six": ([*[LOW] * 5, STEADY, LOW, STEADY, LOW, LOW, STEADY], ["OK"] * 11),
    "a busy processor is not the ceiling": ([BUSY] * 20, ["WARNING"] * 18),
    "flat at 85 % under pressure: the ceiling is set too high": ([made(40), *[made(85, **PRESSURE)] * 3], ["WARNING"]),
    "flat at 84.9 %": ([made(40), *[made(84.9, **PRESSURE)] * 3], ["OK"] * 4),
    "flat, but not three rates yet": ([made(40), PLATEAU, PLATEAU], ["OK"] * 3),
    "rates that vary by 4 % are not flat": (
        [made(40), *[made(percent, **PRESSURE) for percent in (86, 94, 86)]], ["OK"] * 4),
    "rates that vary by 1 % are flat": (
        [made(40), *[made(percent, **PRESSURE) for percent in (88, 90, 88)]], ["WARNING"]),
    "flat, the pressure over": ([made(40), PLATEAU, PLATEAU, made(88)], ["OK"] * 4),
    "flat, a processor busy": ([made(40), *[made(88, **PRESSURE, ziip_pct=90.0)] * 3], ["OK"] * 4),
    "flat, the pressure unknown": ([made(40), *[made(88, **BLIND)] * 3], ["OK"] * 4),
    "a fallback to zHPF is seen though its rate looks harmless": (
        [*[SYNC] * 5, *[fallen(214)] * 5], [*["OK"] * 7, *["PATH_DEGRADED"] * 3]),
    "a degraded path needs flat rates": ([{**FALLEN, "rate_mb_s": rate} for rate in (60, 70, 80) * 4], ["OK"] * 12),
    "rates of nothing are not flat": ([{**FALLEN, "rate_mb_s": 0}] * 9, ["OK"] * 9),
    "left after five at 89.9 %": ([*HIT, *[made(89.9)] * 5], [*["CRITICAL"] * 5, "OK"]),
    "left after five at 80 % under pressure": ([*HIT, *[made(80, **PRESSURE)] * 5], [*["CRITICAL"] * 5, "OK"]),
    "left for a plateau": ([*HIT, *[PLATEAU] * 5], [*["CRITICAL"] * 5, "WARNING"]),
    "left while near without pressure": ([*HIT, *[STEADY] * 5], [*["CRITICAL"] * 5, "WARNING"]),
    "left while the pressure is unknown": ([*HIT, *[made(98, **BLIND)] * 5], [*["CRITICAL"] * 5, "WARNING"]),
    "left without pressure, and not near": ([*HIT, *[made(92)] * 5], [*["CRITICAL"] * 5, "OK"]),
    "left for a degraded path": (
        [*[{**FULL, "path": "zhl", "zhl_sync_pct": 100.0}] * 3, *[FALLEN] * 5], [*["CRITICAL"] * 5, "PATH_DEGRADED"]),
    "not left at 90 % under pressure": ([*HIT, *[made(90, **PRESSURE)] * 30], ["CRITICAL"] * 31),
    "not left because a processor is busy": ([*HIT, *[BUSY] * 30], ["CRITICAL"] * 31),
    "leaving needs five in a row": (
        [*HIT, *[QUIET] * 4, made(92, **PRESSURE), *[QUIET] * 5], [*["CRITICAL"] * 10, "OK"]),
    "conditions for leaving take turns": (
        [*HIT, made(60, **PRESSURE), made(92), made(60, **PRESSURE), made(92), made(60, **PRESSURE)],
        ["CRITICAL", "OK"]),
    "three near again before the five are over, which then begin anew": (
        [*HIT, *[QUIET] * 4, *HIT, *[QUIET] * 4], ["CRITICAL"] * 12),
    "a warning becomes critical at once": ([*[STEADY] * 5, FULL], ["WARNING", "CRITICAL"]),
    "near in three of five holds for two more intervals": (
        [*[STEADY] * 5, *[QUIET] * 7], [*["WARNING"] * 9, "OK"]),
    "a warning of a plateau is left after five": ([*[PLATEAU] * 3, *[QUIET] * 5], [*["WARNING"] * 5, "OK"]),
    "a plateau before the five are over": (
        [*[PLATEAU] * 3, *[QUIET] * 2, *[PLATEAU] * 3, *[QUIET] * 4], ["WARNING"] * 10),
    "214 MB/s at the zHPF ceiling, then zHyperLink, then its fallback": (
        [*[measured("z17 zHPF DS8A50", 1.0, **PRESSURE)] * 5, *[fallen(420, zhl_sync_pct=99.0, **CALM)] * 6,
         *[fallen(214, zhl_sync_pct=5.0)] * 4],
        [*["OK"] * 2, *["CRITICAL"] * 3, *["OK"] * 8, *["PATH_DEGRADED"] * 2]),
    "a cut-over from zHyperLink takes its fallback back": (
        [*[FALLEN] * 3, made(98, ceiling_mb_s=214)], ["OK", "OK", "PATH_DEGRADED", "OK"]),
    "near twice on the old path and once on the new one": ([FULL, FULL, {**FULL, "path": "zhl"}], ["OK"]),
    "an unknown path is no change": (
        [*HIT, {**FULL, "path": None}, made(92, **PRESSURE)], ["CRITICAL", "CRITICAL"]),
    "a missing ceiling is UNKNOWN at once, and three near of five still count": (
        [*HIT, BARE, made(92, **PRESSURE)], ["UNKNOWN", "WARNING"]),
    "three intervals without a ceiling, and two of five still count": (
        [*HIT, *[BARE] * 3, made(60, **PRESSURE)], ["UNKNOWN", "OK"]),
    "nothing is near while there is no ceiling": (
        [*[BARE] * 5, *HIT], [*["UNKNOWN"] * 5, "WARNING", "WARNING", "CRITICAL"]),
    "an interval is judged by the ceiling of its time": ([*HIT, {**FULL, "ceiling_mb_s": 400}], ["CRITICAL", "OK"]),
    "slow log writes stand in for waits": ([*QUIET_WRITES, *[blind(98, 0.8)] * 3], ["CRITICAL"]),
    "log writes not twice as slow": ([*QUIET_WRITES, *[blind(98, 0.79)] * 3], ["WARNING"]),
    "log writes do not count where waits and threads are known": (
        [*[{**QUIET, "log_write_ms": 0.4}] * 5, *[{**STEADY, "log_write_ms": 9.0}] * 5], ["WARNING"] * 3),
    "log writes do not count where threads are known": (
        [*[{**QUIET, "log_write_ms": 0.4}] * 5, *[{**STEADY, "log_write_ms": 9.0, "waits_delta": None}] * 5],
        ["WARNING"] * 3),
    "a degraded path does not become the usual one": (
        [*[blind(60, 0.3, path="zhl", zhl_sync_pct=99.0)] * 10, *[blind(36, 1.2, path="zhl", zhl_sync_pct=5.0)] * 500],
        ["PATH_DEGRADED"] * 498),
    "stale is left at once for OK": ([*HIT, *[QUIET] * 3, *[RESET] * 5, QUIET], ["STALE", "OK"]),
    "stale is left at once for CRITICAL: counts are kept": ([*HIT, *[RESET] * 5, FULL], ["STALE", "CRITICAL"]),
    "stale is left at once for WARNING": ([*HIT, *[RESET] * 5, STEADY], ["STALE", "WARNING"]),
    "a reset gives no verdict and keeps a raised state and counts": (
        [QUIET, FULL, FULL, RESET, FULL, RESET, *[QUIET] * 3, RESET, *[QUIET] * 2],
        ["OK", "OK", "UNKNOWN", *["CRITICAL"] * 7, "OK"]),
    "stale after five without a verdict": ([*HIT, *[RESET] * 7], [*["CRITICAL"] * 5, *["STALE"] * 3]),
    "stale after five in a row": ([*HIT, *[RESET] * 4, FULL, *[RESET] * 4], ["CRITICAL"] * 10),
    "a raised state outlives an hour of silence": ([*HIT, *[GAP] * 60, FULL], ["CRITICAL"] * 2),
    "but no more: judged by itself": ([*HIT, *[GAP] * 61, FULL], ["CRITICAL", "OK"]),
    "an hour of unusable intervals forgets what was raised": (
        [*HIT, *[RESET] * 62, made(92, **PRESSURE)], ["STALE", "UNKNOWN", "OK"]),
}  # fmt: skip


@pytest.mark.parametrize(("series", "shown"), STORIES.values(), ids=STORIES)
def test_a_series_ends_in_these_states(series: list[dict[str, Any] | None], shown: list[str]) -> None:
    assert states(series)[-len(shown) :] == shown


# --- conditions -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("percent", "pressed", "calm"), [(94.9, "WARNING", "OK"), (95, "CRITICAL", "WARNING"), (104, "CRITICAL", "WARNING")]
)
def test_near_is_95_percent_of_the_ceiling(percent: float, pressed: str, calm: str) -> None:
    """Under pressure, 94.9 % is a plateau."""
    assert states([QUIET, *[made(percent, **PRESSURE)] * 4])[-1] == pressed
    assert states([QUIET, *[made(percent)] * 4])[-1] == calm


@pytest.mark.parametrize(
    ("columns", "critical"),
    [
        ({"waits_delta": 1, "waiting_threads": 0}, True),
        ({"waits_delta": 0, "waiting_threads": 51.2}, True),  # 0.20 x 256
        ({"waits_delta": 0, "waiting_threads": 51.1}, False),
        ({"waits_delta": 1, "waiting_threads": None}, True),
        ({"waits_delta": None, "waiting_threads": 60}, True),
        ({"waits_delta": 0, "waiting_threads": None}, False),
        ({"waits_delta": None, "waiting_threads": 10}, False),
        ({"waits_delta": None, "waiting_threads": 60, "active_threads": None}, False),
        ({"waits_delta": 0, "waiting_threads": 0, "active_threads": 0}, False),  # a fifth of none is none
        ({"waits_delta": None, "waiting_threads": 0, "active_threads": 0}, False),
    ],
)
def test_what_pressure_is(columns: dict[str, Any], critical: bool) -> None:
    assert states([QUIET, *[made(98, **columns)] * 4])[-1] == ("CRITICAL" if critical else "WARNING")


@pytest.mark.parametrize(
    ("columns", "critical"),
    [
        ({"gcp_pct": 85.0, "ziip_pct": 85.0}, True),
        ({"gcp_pct": 85.1}, False),
        ({"ziip_pct": 85.1}, False),  # a zHyperLink write spins on the zIIP
        ({"gcp_pct": None}, False),
        ({"ziip_pct": None}, False),
    ],
)
def test_critical_needs_processors_with_room(columns: dict[str, Any], critical: bool) -> None:
    assert states([QUIET, *[{**FULL, **columns}] * 4])[-1] == ("CRITICAL" if critical else "WARNING")


# --- path -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("columns", "state"),
    [
        ({"zhl_sync_pct": 89.9}, "PATH_DEGRADED"),
        ({"zhl_sync_pct": 90.0}, "OK"),
        ({"zhl_sync_pct": None}, "OK"),
        ({"path": "zhpf"}, "OK"),
        ({"path": None}, "OK"),
        (CALM, "OK"),
        (BLIND, "OK"),
        ({"gcp_pct": 99.0}, "PATH_DEGRADED"),  # processors are no part of it
        ({"gcp_pct": None, "ziip_pct": None}, "PATH_DEGRADED"),
    ],
)
def test_what_a_degraded_path_is(columns: dict[str, Any], state: str) -> None:
    assert states([{**FALLEN, **columns}] * 4)[-1] == state


@pytest.mark.parametrize(
    ("columns", "leaves"),
    [
        ({"zhl_sync_pct": 90.0}, True),
        (CALM, True),
        (BLIND, True),
        ({"rate_mb_s": 20}, False),  # a low rate does not clear it
        ({"zhl_sync_pct": None}, False),
    ],
)
def test_a_degraded_path_is_left_after_five(columns: dict[str, Any], leaves: bool) -> None:
    shown = states([*[FALLEN] * 3, *[{**FALLEN, **columns}] * 5])[-5:]
    assert shown == [*["PATH_DEGRADED"] * 4, "OK" if leaves else "PATH_DEGRADED"]


# --- pressure from latency --------------------------------------------------------------------------------------------


def test_the_median_is_of_quiet_intervals_alone() -> None:
    """At 70 % of the ceiling an interval is not quiet any more."""
    verdict = replay([blind(69.9, 0.4), *[blind(70, 3.0)] * 9, blind(98, 0.9)])[-1]
    assert verdict.evidence.as_json()["figures"]["quiet_log_write_ms"] == 0.4
    assert verdict.evidence.as_json()["figures"]["pressure"] is True


def test_without_anything_to_compare_with_the_pressure_is_unknown() -> None:
    for series in ([blind(98, 9.0)] * 9, [*[blind(50, 0.0)] * 3, *[blind(98, 9.0)] * 9]):
        verdict = replay(series)[-1]
        assert verdict.state == "WARNING"
        assert verdict.evidence.as_json()["figures"]["pressure"] is None
        assert "pressure unknown" in verdict.reason


# --- gaps, resets, ceilings -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("columns", "why"),
    [
        *(({name: -5}, "restarted") for name in ("waits_delta", "rate_mb_s", "waiting_threads", "log_write_ms")),
        ({"rate_mb_s": None}, ""),
        ({"interval_s": 0}, ""),
    ],
)
def test_an_interval_without_a_rate_or_after_a_restart_has_no_verdict(columns: dict[str, Any], why: str) -> None:
    verdict = replay([*HIT, {**QUIET, **columns}])[-1]
    assert (verdict.state, verdict.signal, verdict.stale) == ("CRITICAL", None, True)
    assert why in verdict.reason


@pytest.mark.parametrize("ceiling", [None, 0])
def test_an_interval_without_a_ceiling_that_restarted_has_both_reasons(ceiling: float | None) -> None:
    restarted = replay([{**RESET, "ceiling_mb_s": ceiling}] * 6)
    assert {(v.state, v.stale) for v in restarted} == {("UNKNOWN", True)}
    assert all("no ceiling" in v.reason and "restarted" in v.reason for v in restarted)


# --- evidence, words, parameters --------------------------------------------------------------------------------------


def test_evidence_holds_inputs_figures_and_thresholds() -> None:
    evidence = replay(HIT)[-1].evidence.as_json()
    assert evidence["rule"] == "log_ceiling_hit"
    assert evidence["inputs"]["waits_delta"] == 12
    assert evidence["figures"]["ratio"] == pytest.approx(0.98)
    assert evidence["figures"]["near_in_a_row"] == 3
    assert evidence["figures"]["waiting_share"] == 160 / 256
    assert evidence["figures"]["variation"] == pytest.approx(0)
    assert evidence["thresholds"]["near_ratio"] == 0.95
    assert replay([*HIT, RESET])[-1].evidence.as_json()["thresholds"] == {
        "stale_after": 5,
        "gap_factor": 2.0,
        "forget_after_s": 3600.0,
    }
    for columns in (FULL, RESET, {**FULL, "ceiling_mb_s": None}):
        orjson.dumps(replay([columns])[-1].evidence.as_json())


def test_flat_is_the_deviation_of_the_three_rates_themselves() -> None:
    """97, 100 and 103: mean 100, mean square deviation 6."""
    verdict = replay([{**QUIET, "rate_mb_s": rate} for rate in (97, 100, 103)])[-1]
    assert verdict.evidence.as_json()["figures"]["variation"] == pytest.approx(6**0.5 / 100)


def test_the_words_name_both_causes_of_a_wait_for_a_buffer() -> None:
    reason = replay(HIT)[-1].reason
    assert "0.98 of the ceiling" in reason
    assert "at the ceiling" in reason
    assert "OUTBUFF" in reason
    assert "27.2 %" in reason


FLAT = [made(40), *[PLATEAU] * 3]
QUIET_MS = [blind(50, 0.4)] * 5
UNNAMED = {**made(98, **PRESSURE), "ceiling_mb_s": None}  # 196 MB/s under pressure, no ceiling configured
SPREAD = [{**UNNAMED, "rate_mb_s": rate} for rate in (196, 170, 172)] * 11
LATER: dict[str, tuple[str, list[Any], str, str]] = {
    "near_ratio": ("0.99", HIT, "CRITICAL", "WARNING"),
    "plateau_ratio": ("0.9", FLAT, "WARNING", "OK"),
    "leave_ratio": ("0.93", [*HIT, *[made(92, **PRESSURE)] * 2, *[made(91, **PRESSURE)] * 3], "CRITICAL", "WARNING"),
    "flat_cv": ("0.05", [made(86, **PRESSURE), made(94, **PRESSURE), made(86, **PRESSURE)], "OK", "WARNING"),
    "flat_window": ("4", FLAT, "WARNING", "OK"),
    "waits_over": ("12", [made(98, waits_delta=12, waiting_threads=None)] * 3, "CRITICAL", "WARNING"),
    "waiting_share": ("0.7", [made(98, waits_delta=None, waiting_threads=160)] * 3, "CRITICAL", "WARNING"),
    "latency_factor": ("3.0", [*QUIET_MS, *[blind(98, 1.0)] * 3], "CRITICAL", "WARNING"),
    "latency_below": ("0.5", [*QUIET_MS, *[blind(98, 1.0)] * 3], "CRITICAL", "WARNING"),
    "latency_window": ("1", [*QUIET_MS, blind(50, 4.0), *[blind(98, 1.0)] * 3], "CRITICAL", "WARNING"),
    "gcp_free_pct": ("20.0", HIT, "CRITICAL", "WARNING"),
    "ziip_free_pct": ("20.0", HIT, "CRITICAL", "WARNING"),
    "sync_pct": ("4.0", [FALLEN] * 3, "PATH_DEGRADED", "OK"),
    "raise_after": ("4", HIT, "CRITICAL", "WARNING"),
    "warn_least": ("4", [STEADY] * 3, "WARNING", "OK"),
    "warn_window": ("2", [STEADY] * 3, "WARNING", "OK"),
    "clear_after": ("2", [*HIT, *[made(60)] * 4], "CRITICAL", "OK"),
    "stale_after": ("2", [*HIT, RESET, RESET], "CRITICAL", "STALE"),
    "gap_factor": ("1.5", [FULL, FULL, GAP, FULL], "CRITICAL", "UNKNOWN"),
    "forget_after_s": ("60", [*HIT, GAP, GAP, made(92, **PRESSURE)], "CRITICAL", "OK"),
    "learn_least": ("40", [UNNAMED] * 33, "WARNING", "UNKNOWN"),
    "learn_spread": ("0.2", SPREAD, "UNKNOWN", "OK"),
}


@pytest.mark.parametrize("name", LATER)
def test_each_parameter_does_something(name: str) -> None:
    value, series, before, after = LATER[name]
    assert states(series)[-1] == before
    assert states(series, settings={name: value})[-1] == after


def test_every_parameter_is_tested() -> None:
    names = {f.name for f in fields(RULE.parameters)}
    assert LATER.keys() == names


@pytest.mark.parametrize("path", ["zHPF", "", 1, ["zhl"]])
def test_a_path_is_one_of_two(path: object) -> None:
    with pytest.raises(ValueError, match="`path`: expected zhpf, zhl or null"):
        RULE.interval({"ts": "2026-11-21T01:00:00Z", **QUIET, "path": path})


# --- whatever the counters --------------------------------------------------------------------------------------------


@st.composite
def series(draw: st.DrawFn) -> list[LogInterval]:
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
        }
        for _ in range(draw(st.integers(1, 7))):
            ts += timedelta(seconds=draw(st.sampled_from([60, 60, 60, 120, 180, 0])))
            intervals.append(RULE.interval({"ts": ts.isoformat(), **columns}))
    return intervals


@given(series())
def test_nothing_becomes_critical_or_degraded_without_pressure(intervals: list[LogInterval]) -> None:
    """Pressure is waits, waiting threads of a fifth of the active ones, or, where neither is known, slow log writes."""
    before = "OK"
    for i, verdict in zip(intervals, REPLAY.judged(intervals), strict=True):
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
    for interval, verdict in zip(intervals, REPLAY.judged(intervals), strict=True):
        assert (verdict.state == "UNKNOWN") == (not interval.ceiling_mb_s) or verdict.stale
        if not interval.ceiling_mb_s:
            assert verdict.state == "UNKNOWN"
            assert verdict.signal in ("UNKNOWN", None)
            assert "no ceiling" in verdict.reason


@given(series())
def test_judging_again_or_with_the_state_carried_as_stored_gives_the_same(intervals: list[LogInterval]) -> None:
    assert REPLAY.judged(intervals) == REPLAY.judged(intervals) == REPLAY.judged(intervals, carried=True)


@given(series())
def test_every_verdict_is_whole(intervals: list[LogInterval]) -> None:
    for verdict in REPLAY.judged(intervals):
        assert verdict.state in RULE.states
        assert verdict.reason
        assert (verdict.signal is None) == verdict.stale
        assert verdict.state != "STALE" or verdict.stale
        orjson.dumps(verdict.evidence.as_json())
