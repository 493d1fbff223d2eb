"""Verdicts on series that come shuffled, in pieces, twice, or completed later: as if each had come once, in order."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from counterflow.pipelines import verdicts
from counterflow.pipelines.rules import rules
from counterflow.pipelines.rules.roce_cap import LinkState, Parameters

RULE = rules()["roce_cap"]
BEGIN = datetime(2026, 5, 4, tzinfo=UTC)
PHYSICAL = ("phys_out_bytes_s", "phys_in_bytes_s")


def row(number: int, *, own: float, physical: float | None = 11.0e9, n: int = 3, **columns: Any) -> dict[str, Any]:
    """Return an interval of a link with 3 % of 100 Gb/s; own and physical bytes/s each way."""
    moment = BEGIN + number * timedelta(seconds=15)
    figures: dict[str, Any] = {"own_out_bytes_s": own, "own_in_bytes_s": own, "own_msgs_s": own / 130}
    figures |= dict.fromkeys(PHYSICAL, physical)
    return {"ts": f"{moment:%F %T}.000", "interval_s": 15.0, "n": n, "capacity_pct": 3.0, "line_bits_s": 1e11} | (
        figures | columns
    )


def series(seed: int = 1) -> list[dict[str, Any]]:
    """Return twelve intervals uncapped, six capped, eight uncapped, some missing or without a verdict in between."""
    chance = random.Random(seed)
    levels = [(6.0e8, 10.9e9)] * 12 + [(2.4e8, 11.1e9)] * 6 + [(6.0e8, 10.9e9)] * 8
    rows = [
        row(number, own=own * chance.uniform(0.99, 1.01), physical=physical)
        for number, (own, physical) in enumerate(levels)
    ]
    rows[5] = row(5, own=1.0, reset=True)
    del rows[9]
    return rows


def plainly(rows: Iterable[dict[str, Any]]) -> dict[str, tuple[str, str | None, bool, str]]:
    """Return state, signal and so on by ts, computed by the rule and nothing else."""
    state, plain = LinkState(), {}
    for one in sorted(rows, key=lambda row: row["ts"]):
        state, verdict = RULE.judge(Parameters(), state, RULE.interval(one))
        plain[one["ts"]] = (verdict.state, verdict.signal, verdict.stale, verdict.reason)
    return plain


def judged(pieces: Iterable[Iterable[dict[str, Any]]]) -> tuple[dict[str, tuple[Any, ...]], list[dict[str, Any]], int]:
    """Return the newest verdict by ts, all verdicts, and how many rows were history."""
    remembered, newest, every, history = verdicts.Series(), {}, [], 0
    for piece in pieces:
        remembered, outcome = verdicts.judge(RULE, Parameters(), remembered, piece)
        assert not outcome.unreadable
        every += outcome.verdicts
        history += outcome.history
    for one in every:
        moment = datetime.fromtimestamp(one["ts_ms"] / 1000, UTC)
        newest[f"{moment:%F %T}.000"] = (one["state"], one["signal"], one["stale"], one["reason"])
    return newest, every, history


@pytest.mark.parametrize("size", [1, 4, 100])
@pytest.mark.parametrize("seed", range(5))
def test_any_order_and_any_pieces_end_as_one_by_one_in_order(seed: int, size: int) -> None:
    rows = series(seed)
    shuffled = rows + rows[::3]  # some twice
    random.Random(seed).shuffle(shuffled)
    found, _, history = judged(shuffled[at : at + size] for at in range(0, len(shuffled), size))
    assert found == plainly(rows)
    assert not history


def test_a_repeated_interval_counts_once() -> None:
    rows = series()
    _, once, _ = judged([[one] for one in rows])
    _, twice, _ = judged([[one] for one in rows for _ in range(3)])
    assert twice == once
    assert len(once) == len(rows)


def test_a_physical_load_that_comes_later_is_judged_again_and_a_lesser_row_is_not() -> None:
    rows = series()
    bare = [one | dict.fromkeys(PHYSICAL) | {"n": 1} for one in rows]
    assert "CAPPED" not in {state for state, *_ in judged([bare])[0].values()}
    found, every, _ = judged([bare, rows[:15], rows[15:], bare])
    assert found == plainly(rows)
    assert [one["n"] for one in every[-3:]] == [3, 3, 3]


def test_what_is_older_than_the_intervals_kept_is_history() -> None:
    rows = [row(number, own=6.0e8) for number in range(verdicts.KEPT + 5)]
    found, every, history = judged([rows[4:], rows[:4]])
    assert history == 4  # one went when the first piece was judged: it and those before are history
    assert len(found) == len(every) == verdicts.KEPT + 1


def test_since_is_the_first_interval_of_the_state() -> None:
    rows = series()
    _, every, _ = judged([rows])
    begin = round(BEGIN.timestamp() * 1000)
    assert {(one["state"], (one["since_ms"] - begin) // 15_000) for one in every} == {
        ("OK", 0),
        ("UNKNOWN", 5),
        ("OK", 6),
        ("CAPPED", 14),
        ("OK", 22),
    }


def test_a_row_that_the_rule_cannot_read_is_named_and_the_rest_judged() -> None:
    _, outcome = verdicts.judge(RULE, Parameters(), verdicts.Series(), [row(1, own=1e8), row(2, own=1e8, interval_s=0)])
    assert len(outcome.verdicts) == 1
    assert outcome.unreadable == ["2026-05-04 00:00:30.000: `interval_s`: expected a number above 0 or null, found 0"]


def test_a_verdict_carries_its_evidence_and_the_digest_of_the_parameters() -> None:
    one, other = (
        verdicts.judge(RULE, Parameters(raise_after=count), verdicts.Series(), series())[1].verdicts for count in (3, 4)
    )
    assert json.loads(one[-1]["evidence"])["inputs"]["capacity_pct"] == 3
    assert len({verdict["parameters"] for verdict in one}) == 1
    assert one[0]["parameters"] != other[0]["parameters"]
