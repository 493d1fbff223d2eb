"""Mirrored runs predicted from their baselines: by independent arithmetic, and never from the run itself."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from counterflow.analysis.studies import backtest, fitted
from counterflow.analysis.studies.sizing import Estimate, UnmirroredNode, apply_time, queueing, sized, spread

PAGE = Path(__file__).parents[2] / "docs/studies/mirror-backtest.md"


def test_the_page_counts_what_lies_within_and_the_rest_is_known() -> None:
    counted = backtest.counted()
    assert f"\n{counted['within']} of {counted['predictions']} lie within" in PAGE.read_text(encoding="utf-8")
    assert {p.id for p in backtest.predictions() if not p.inside} == set(backtest.outside())


def test_target_processors_of_table_7_2_by_hand() -> None:
    """Scenario 1: growth at the target is the mean of the four other active-passive runs, 17.96 % of the baseline's."""
    base = 0.744 * 22 / 29_900  # processor seconds of a transaction
    parts = [0.266 * 11 / 29_870, 0.260 * 11 / 29_820]
    base3 = 0.789 * 32 / 44_500
    parts3 = [0.5632 * 8 / 44_600, 0.7874 * 6 / 44_700]
    target = (sum(p / base for p in parts) + sum(p / base3 for p in parts3)) / 4
    found = {p.id: p for p in backtest.predictions()}
    rate = found["7-2/scenario 1/throughput"].predicted
    assert found["7-2/scenario 1/target CPU"].predicted == pytest.approx(100 * rate * base * target / 11)
    assert found["7-2/scenario 1/target CPU"].published == pytest.approx(20.9)


def test_a_held_port_by_hand() -> None:
    """3 %, 10 threads: three other ports got 0.677, 0.742 and 0.618 of their capacity; a row had 1,349 bytes."""
    enforcement = (2.03 / 3 + 4.45 / 6 + 3.71 / 6) / 3
    rows = 0.03 * enforcement * 100e9 / (4.49e9 / 416_049)
    found = {p.id: p for p in backtest.predictions()}["7-4/3 %, 10 threads/rows"]
    assert found.predicted == pytest.approx(rows)
    assert found.error_pct == pytest.approx(100 * (rows / 177_259 - 1))


@pytest.mark.parametrize("run", fitted.mirrored_runs(), ids=lambda run: f"{run.table} {run.name}")
def test_no_run_is_fitted_to_itself(run: fitted.MirroredRun, monkeypatch: pytest.MonkeyPatch) -> None:
    """Constants of a run do not move when its own figures do."""
    other = run._replace(rate=run.rate * 0.5, response_s=run.response_s * 3, source_busy=0.1, target_busy=0.1)
    before = fitted.constants(run)
    every = tuple(other if r == run else r for r in fitted.mirrored_runs())
    monkeypatch.setattr(fitted, "mirrored_runs", lambda: every)
    assert fitted.constants(other) == before


def test_rate_response_and_processors_agree() -> None:
    """Little's law holds for the predictions, and adding nothing gives the baseline back."""
    before = UnmirroredNode(100.0, 0.02, 1.5, 4.0)
    same = sized(before, 0.08, 0.0, 0.0, 4.0)
    assert same == pytest.approx((100.0, 0.02, 1.5))
    more = sized(before, 0.08, 0.5, 0.01, 4.0)
    assert more.rate * (0.08 + more.response_s) == pytest.approx(100 * 0.1)
    assert more.busy == pytest.approx(more.rate * 0.015 * 1.5)
    assert more.response_s == pytest.approx(0.02 / queueing(1.5, 4) * queueing(more.busy, 4) + 0.01)
    full = sized(before, 0.0, 9.0, 0.0, 4.0)
    assert full.busy < 4.0
    assert sized(before, 0.08, 0.0, 0.0, 4.0, capacity=2.0).response_s < 0.02


def test_a_spread_follows_students_t() -> None:
    found = spread([1.0, 3.0])  # mean 2, deviation √2, t 3.078, √1.5
    assert found == pytest.approx((2.0, 0.0, 2 + 3.078 * math.sqrt(3)))
    assert spread([2.0]) == (2.0, 0.0, math.inf)
    with pytest.raises(ValueError, match="needs a value"):
        spread([])


def test_the_time_of_a_mirrored_operation_by_hand() -> None:
    """80 jobs did 415,318 to 417,753 rows/s: 191.5 to 192.6 µs a row; at least half of the least is mirroring's."""
    pair = fitted.pair_us()
    assert pair == pytest.approx((144.187, 1e6 * 80 / 417_753 / 2, 1e6 * 80 / 415_318), abs=1e-3)
    both = apply_time(2.0, 1.0, 1.0, Estimate(144.0, 96.0, 192.0))
    assert both == pytest.approx((144e-6, 96e-6, 192e-6))
    insert = apply_time(1.0, 1.0, 0.0, Estimate(144.0, 96.0, 192.0))
    assert insert == pytest.approx((120e-6, 48e-6, 192e-6))
