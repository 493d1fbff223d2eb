"""What `counterflow doctor SYSTEM --at TIME` ranks over rows whose changes are plain to work out."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import orjson
import pytest

from counterflow.analysis.culprit import Period, changes, spell
from counterflow.base.clickhouse import ClickHouse
from counterflow.dashboards.definition import charts
from counterflow.dashboards.macros import Range, expand
from tests.support import tables

NOON = datetime(2026, 5, 4, 12, tzinfo=UTC)
SYSTEM = 'it\'s "A"'
PERIOD = Period(NOON - timedelta(minutes=10), NOON, NOON + timedelta(minutes=5))


def insert(client: ClickHouse, table: str, rows: list[dict[str, Any]]) -> None:
    tables.insert(client, table, *rows, system=SYSTEM, interval_s=60)


def minutes() -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the ends of ten quiet minutes and of the five in question."""
    for number in range(-9, 6):
        yield number, {"ts": (NOON + timedelta(minutes=number)).isoformat()}


def found(client: ClickHouse, measure: str, period: Period = PERIOD) -> dict[str, SimpleNamespace]:
    answers = [one for one in changes(client, SYSTEM, period) if one.subject == measure]
    return {str(one.entity): SimpleNamespace(**one.details) for one in answers}


def test_names_are_ranked_by_the_change_that_they_explain_not_by_size(client: ClickHouse) -> None:
    # LARGE uses 4 processors throughout, GROWN 0.5 and then 2.5; NEW comes with 0.5 in the last two minutes alone
    rows = []
    for number, at in minutes():
        used = {"LARGE": 4.0, "GROWN": 2.5 if number > 0 else 0.5} | ({"NEW": 0.5} if number > 3 else {})
        for name, cores in used.items():
            rows.append({**at, "grouping": "generic_job", "name": name, "cpu_ms": cores * 60_000, "cpu_cores": cores})
    insert(client, "job_cpu", rows)
    ranked = list(found(client, "cpu_by_job").values())
    assert [one.name for one in ranked] == ["GROWN", "NEW"]
    grown, new = ranked
    assert (grown.before, grown.during, grown.change) == pytest.approx((0.5, 2.5, 2.0))
    # half a processor for two of five minutes: absent is none, not unknown
    assert (new.before, new.during, new.change) == pytest.approx((0, 0.2, 0.2))
    assert (grown.explains_pct, new.explains_pct) == pytest.approx((100 * 2.0 / 2.2, 100 * 0.2 / 2.2))


def test_a_neighbour_on_the_same_port_is_found_and_a_link_counts_once(client: ClickHouse) -> None:
    rows = []
    for number, at in minutes():
        own, other = (400e6, 1_200e6) if number > 0 else (600e6, 900e6)
        port = {**at, "link_type": "logical_port", "physical_port": "P1"}
        rows += [
            {**port, "link": "27004001", "own_out_bytes_s": own},
            {**port, "system": "NEIGHBOUR", "link": "27004002", "own_out_bytes_s": other},
            {**port, "system": "ELSEWHERE", "physical_port": "P2", "link": "1", "own_out_bytes_s": 1e6 * number + 1e9},
            {**at, "link_type": "rdma_link", "link": "a b", "physical_port": "P1", "own_out_bytes_s": own},
        ]
    insert(client, "link_load", rows)
    ranked = found(client, "links")
    assert {name: round(one.change) for name, one in ranked.items()} == {
        "NEIGHBOUR / 27004002": 300,
        f"{SYSTEM} / 27004001": -200,
    }
    assert ranked["NEIGHBOUR / 27004002"].explains_pct == pytest.approx(60)


def test_a_link_of_which_nothing_was_counted_has_no_rate(client: ClickHouse) -> None:
    """As listings of an HMC give rows of ports without their bytes."""
    rows = []
    for number, at in minutes():
        port = {**at, "link_type": "logical_port", "physical_port": "P1"}
        rows.append({**port, "link": "1", "own_out_bytes_s": 500e6 if number > 0 else 100e6})
        rows.append({**port, "link": "2", "own_out_bytes_s": None})
    insert(client, "link_load", rows)
    ranked = found(client, "links")
    assert {name: (one.before, one.during, one.explains_pct) for name, one in ranked.items()} == {
        f"{SYSTEM} / 1": pytest.approx((100, 500, 100))
    }


def test_without_a_quiet_time_nothing_has_changed(client: ClickHouse) -> None:
    rows = [{**at, "grouping": "generic_job", "name": "A", "cpu_ms": 1.0} for number, at in minutes() if number > 0]
    insert(client, "job_cpu", rows)
    assert list(changes(client, SYSTEM, PERIOD)) == []


def judged() -> Iterator[dict[str, Any]]:
    """Yield verdicts: capped in the first three of the minutes in question."""
    same = {"rule": "roce_cap", "entity_type": "nrg", "reason": "", "evidence": "{}", "parameters": "0", "stale": False}
    for number, at in minutes():
        state, since = ("CAPPED", 1) if number in (1, 2, 3) else ("OK", 4 if number > 3 else -9)
        at |= {"state": state, "since": (NOON + timedelta(minutes=since)).isoformat(), "entity": "G"}
        yield {**same, **at}


def drawn(client: ClickHouse, chart: str, shown: Range, *systems: str) -> list[dict[str, Any]]:
    return client.rows(expand(charts()[chart].query, shown, {"system": systems}))


def test_a_board_ranks_as_the_command_does_for_the_newest_spell_and_else_for_its_range(client: ClickHouse) -> None:
    rows = []
    for number, at in minutes():
        used = {"O'BAT\\": 2.5 if number > 0 else 0.5, "LARGE": 4.0, "LESS": 0.25 if number > 0 else 0.75}
        for name, cores in used.items():
            rows.append({**at, "grouping": "generic_job", "name": name, "cpu_ms": cores * 60_000, "cpu_cores": cores})
    insert(client, "job_cpu", rows)
    quarter = Range(NOON - timedelta(minutes=5), NOON + timedelta(minutes=5))
    halves = Period(*(NOON + timedelta(minutes=minute) for minute in (-15, -5, 5)))

    def ranked(period: Period) -> list[tuple[str, float]]:
        return [(name, one.change) for name, one in found(client, "cpu_by_job", period).items()]

    assert [(row["Name"], row["Change"]) for row in drawn(client, "what_changed", quarter, SYSTEM)] == ranked(halves)
    insert(client, "verdict", list(judged()))
    capped = spell(client, SYSTEM, "roce_cap")
    assert capped is not None
    table = drawn(client, "what_changed", quarter, "another", SYSTEM)
    assert [(row["Name"], row["Change"]) for row in table] == ranked(capped) == [("O'BAT\\", 2.0), ("LESS", -0.5)]
    assert {(row["System"], row["Until"]) for row in table} == {(SYSTEM, "2026-05-04 12:03:00.000")}
    assert [row["Explains"] for row in table] == [80, 20]


def test_the_newest_spell_of_a_rule_is_the_time_in_question(client: ClickHouse) -> None:
    insert(client, "verdict", list(judged()))
    period = spell(client, SYSTEM, "roce_cap", "G")
    assert period == Period(NOON - timedelta(hours=1), NOON, NOON + timedelta(minutes=3))
    assert spell(client, SYSTEM, "roce_cap", "H") is None
    during, after = (spell(client, SYSTEM, None, at=NOON + timedelta(minutes=minute)) for minute in (1, 4))
    assert (during, after) == (period, None)


def test_quiet_time_ends_where_the_signal_began_and_not_where_it_raised_the_state(client: ClickHouse) -> None:
    """Three intervals of the signal raise it: two of them have the state before, and are not quiet."""
    rows = list(judged())
    for number, row in zip(range(-9, 6), rows, strict=True):
        row["evidence"] = orjson.dumps({"figures": {"raising": max(0, number + 2) if number <= 3 else 0}}).decode()
    insert(client, "verdict", rows)
    period = spell(client, SYSTEM, "roce_cap", "G")
    assert period == Period(NOON - timedelta(minutes=62), NOON - timedelta(minutes=2), NOON + timedelta(minutes=3))
    [row] = client.rows(
        "SELECT begin FROM counterflow.culprit_period("
        "systems = [{system:String}], since = '2026-05-04 11:55:00', until = '2026-05-04 12:05:00')",
        {"param_system": SYSTEM},
    )
    assert row["begin"] == "2026-05-04 11:58:00.000"
