"""Days to the limit: by hand, against a plain computation, and on series whose future is known."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Callable, Iterator
from datetime import date, timedelta
from itertools import combinations, pairwise
from statistics import median, median_high
from typing import Any

import pytest

from counterflow.analysis.checks import trend as doctor
from counterflow.analysis.queries import END
from counterflow.base.clickhouse import ClickHouse
from counterflow.stack.settings import StackSettings
from tests.support.pages import REPOSITORY
from tests.support.tables import empty_tables, insert

FIRST = date(2026, 1, 5)  # a Monday
SERIES, DAYS, SHORT = 200, 60, 30
Series = Callable[[int], float]


def of_weekday(day: int) -> float:
    return 8.0 if (FIRST + timedelta(day)).weekday() < 5 else -8.0


def drawn(kind: str, seed: int) -> tuple[list[float], float]:
    """Return daily peaks that rise by a known amount a day, with noise of 2 %, and when a usual day reaches 100."""
    chosen = random.Random(f"{kind} {seed}")
    level, slope = chosen.uniform(40, 60), chosen.uniform(0.1, 0.5)
    before = 0.0
    peaks = []
    for day in range(DAYS):
        noise = chosen.gauss(0, 2)
        if kind == "noise that lasts":
            noise = before = 0.6 * before + chosen.gauss(0, 1.6)
        if kind == "days of the week":
            noise += of_weekday(day)
        if kind == "one day in ten doubled" and chosen.random() < 0.1:
            noise += level
        peaks.append(level + slope * day + noise)
    usual = level + (8.0 if kind == "days of the week" else 0.0)  # most days are working days
    return peaks, (100 - usual) / slope


KINDS = ("independent noise", "noise that lasts", "days of the week", "one day in ten doubled")

BY_HAND = {
    "linear": [50 + 0.5 * day for day in range(40)],
    "level": [50.0 + day % 3 for day in range(40)],
    "falling": [80 - 0.5 * day for day in range(40)],
    "short": [50.0 + day for day in range(9)],
    "single": [50.0],
    "full": [100.0] * 40,
    "steep": [50.0 + day for day in range(40)],
    "slow": [50 + 0.01 * day for day in range(40)],
}


def rows(system: str, peaks: list[float]) -> Iterator[dict[str, Any]]:
    for day, peak in enumerate(peaks):
        ts = f"{FIRST + timedelta(day)} 14:00:00"
        yield {"metric": "disk.used_pct", "system": system, "instance": "1", "ts": ts, "n": 1, "hi": peak}


@pytest.fixture(scope="module")
def trends(clickhouse: StackSettings) -> Iterator[dict[str, dict[str, Any]]]:
    """The answers for all series, by system."""
    series = {f"{kind}/{seed}": drawn(kind, seed)[0] for kind in KINDS for seed in range(SERIES)}
    series |= {f"{kind}, short": drawn(kind, 0)[0][:SHORT] for kind in KINDS[:2]}
    with empty_tables(clickhouse) as client:
        insert(client, "metric_1h", *(row for name, peaks in (BY_HAND | series).items() for row in rows(name, peaks)))
        yield answers(client)


def answers(client: ClickHouse) -> dict[str, dict[str, Any]]:
    view = "counterflow.days_to_limit_within(since = '2025-01-01 00:00:00', until = '2027-01-01 00:00:00')"
    return {row["system"]: row for row in client.rows(f"SELECT * FROM {view}")}


@pytest.mark.parametrize(
    ("system", "answer"),
    [
        ("linear", "in 61 days (61 to 61)"),  # 30.5 % are left of 69.5, at 0.5 a day
        ("steep", "in 11 days (11 to 11)"),
        ("level", "no trend"),
        ("falling", "falling"),
        ("short", "too short: 9 of 28 days"),
        ("single", "too short: 1 of 28 days"),
        ("full", "reached: 100 % on the newest day"),
        ("slow", "rising, in more than a year"),
    ],
)
def test_an_answer_states_days_or_why_there_are_none(
    trends: dict[str, dict[str, Any]], system: str, answer: str
) -> None:
    found = trends[system]
    assert found["answer"] == answer
    assert (found["days_to_limit"] is not None) == (found["trend"] == "rising")
    assert (found["slope_pct_per_day"] is None) == (found["trend"] == "too short" or len(BY_HAND[system]) < 28)


@pytest.mark.parametrize(
    ("system", "status", "figure"),
    [
        ("linear", "pass", "in 61 days (61 to 61)"),
        ("level", "pass", "no trend"),
        ("falling", "pass", "falling"),
        ("steep", "warn", "in 11 days (11 to 11); 89 % by the trend on 2026-02-13"),
        ("full", "fail", "reached: 100 % on the newest day"),
        ("short", "unknown", "too short: 9 of 28 days"),
    ],
)
def test_doctor_judges_by_the_same_trend(
    trends: dict[str, dict[str, Any]], reader: ClickHouse, system: str, status: str, figure: str
) -> None:
    [found] = doctor.trends(reader, [system], END)
    [nothing] = doctor.trends(reader, ["not recorded"], END)
    assert (found.subject, found.entity, found.status) == ("days_to_limit", "fullest disk", status)
    assert found.figure is not None
    assert found.figure.startswith(figure)
    assert found.raises == (found.remedy is not None) == (status in ("warn", "fail"))
    assert (nothing.status, nothing.raises) == ("unknown", False)


@pytest.mark.parametrize("kind", ["independent noise", "noise that lasts"])
def test_the_line_is_that_of_theil_and_sen(trends: dict[str, dict[str, Any]], kind: str) -> None:
    """Recomputed from the definition, for series shorter than five weeks: nothing is taken off by weekday."""
    peaks = drawn(kind, 0)[0][:SHORT]
    slopes = sorted((b - a) / (j - i) for (i, a), (j, b) in combinations(enumerate(peaks), 2))
    slope = median_high(slopes)
    base = median_high([peak - slope * day for day, peak in enumerate(peaks)])
    noise = [peak - slope * day - base for day, peak in enumerate(peaks)]
    resembles = max(0.0, sum(a * b for a, b in pairwise(noise)) / sum(a * a for a in noise))
    n, pairs = len(peaks), len(slopes)
    spread = 1.645 * math.sqrt((1 + resembles) / (1 - resembles) * n * (n - 1) * (2 * n + 5) / 18)
    rank = math.floor((pairs - spread) / 2)
    found = trends[f"{kind}, short"]
    assert found["slope_pct_per_day"] == pytest.approx(slope, abs=1e-5)
    assert found["slope_low_pct_per_day"] == pytest.approx(slopes[rank - 1], abs=1e-5)
    assert found["slope_high_pct_per_day"] == pytest.approx(slopes[pairs - rank], abs=1e-5)


def test_the_page_states_how_often_the_interval_held_the_day(trends: dict[str, dict[str, Any]]) -> None:
    page = (REPOSITORY / "docs/studies/trend.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| [a-z ]+ \| \d+ \| .*", page, re.MULTILINE) == [back_test(kind, trends) for kind in KINDS]


def back_test(kind: str, trends: dict[str, dict[str, Any]]) -> str:
    """Return a row of the page: series with a trend, how often its interval held the day, and the error of the day."""
    held, errors = 0, []
    for seed in range(SERIES):
        found, crosses = trends[f"{kind}/{seed}"], drawn(kind, seed)[1] - (DAYS - 1)
        if found["trend"] == "rising":
            held += found["days_to_limit_low"] <= crosses <= found["days_to_limit_high"]
            errors.append(abs(found["days_to_limit"] - crosses) / crosses)
    return f"| {kind} | {len(errors)} | {100 * held / len(errors):.0f} % | {100 * median(errors):.0f} % |"
