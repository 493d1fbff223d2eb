"""Mirrored runs predicted from their baselines: by independent arithmetic, and never from the run itself."""

from __future__ import annotations

import math

import pytest

from counterflow.analysis.studies import fitted
from counterflow.analysis.studies.sizing import UnmirroredNode, cores_to_hold, queueing, sized, spread
from tests.golden import mirror_backtest as backtest


def test_every_prediction_is_within_its_interval_or_known_to_lie_outside() -> None:
    found = backtest.predictions()
    assert [one.id for one in found if not one.ok] == []
    assert (len(found), sum(one.inside for one in found)) == (92, 74)


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
    before = backtest.constants(run)
    every = tuple(other if r == run else r for r in fitted.mirrored_runs())
    monkeypatch.setattr(fitted, "mirrored_runs", lambda: every)
    assert backtest.constants(other) == before


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


def test_jobs_that_hold_the_throughput_of_tables_7_2_and_7_3() -> None:
    """82 became 104, and 92 with 25 cores; 140 became 164 and 172: each from the other runs, but for one that is known.

    The 25 cores brought more than the queue for processors explains: 102 are predicted.
    """
    found = {p.id: p for p in backtest.predictions() if p.what == "job sets"}
    printed = {
        "7-2/scenario 2": (104, 1.1),
        "7-2/scenario 3": (92, 11.0),
        "7-3/active-passive 1": (164, 2.6),
        "7-3/active-passive 2": (172, -3.2),
    }
    for run, (sets, error) in printed.items():
        assert found[f"{run}/job sets"].published == sets
        assert found[f"{run}/job sets"].error_pct == pytest.approx(error, abs=0.05)
        assert found[f"{run}/job sets"].inside is (run != "7-2/scenario 3")
    assert len(found) == 10


def test_processors_of_table_7_3_by_hand() -> None:
    """32 cores became 38 and 6 to 8 active-passive, and 21 or 22 on each active node, at the same utilisation."""
    [run] = [run for run in fitted.mirrored_runs() if (run.table, run.name) == ("7-3", "active-active 5")]
    of = backtest.constants(run)
    source, target, each = cores_to_hold(32, of.growth, of.target)
    base, base2 = 0.789 * 32 / 44_500, 0.744 * 22 / 29_900  # processor seconds of a transaction
    used3 = [(38 * 0.785 / 44_600, 8 * 0.5632 / 44_600), (38 * 0.7938 / 44_700, 6 * 0.7874 / 44_700)]
    used2 = [(22 * 0.743 / 23_770, 11 * 0.209 / 23_770), (22 * 0.839 / 29_870, 11 * 0.266 / 29_870)]
    used2.append((25 * 0.755 / 29_820, 11 * 0.26 / 29_820))
    passive = [(s / base, t / base) for s, t in used3] + [(s / base2, t / base2) for s, t in used2]
    grown, applied = (sum(part) / 5 for part in zip(*passive, strict=True))
    assert source.value == pytest.approx(32 * grown)
    assert target.value == pytest.approx(32 * applied)
    assert each.value == pytest.approx(16 * (grown + applied))
    assert source.low <= 38 <= source.high
    assert target.low <= 6 <= target.high + 0.3  # 6 cores ran at 78.74 %, the baseline at 78.9 %
    assert each.low <= 21 <= each.value <= 22 <= each.high
