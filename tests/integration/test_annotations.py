"""Annotations of a board: each spell with its reason in the colour of its state, and the time without data."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from counterflow.base.clickhouse import ClickHouse
from counterflow.dashboards.annotations import drawn_over
from counterflow.dashboards.definition import boards
from counterflow.dashboards.looks import looks
from counterflow.dashboards.macros import Range, expand
from counterflow.stack.settings import StackSettings
from tests.support.tables import empty_tables, insert

BEGIN = datetime(2026, 5, 4, 9, tzinfo=UTC)
ENDS = {"A": (1, 2, 3, 9, 10), "B": (2, 4, 6, 8, 10)}
"""Minutes at which intervals end: A has one of a minute each, and six missing; B has one every two minutes."""


def at(minute: float) -> datetime:
    return BEGIN + timedelta(minutes=minute)


@pytest.fixture(scope="module")
def client(clickhouse: StackSettings) -> Iterator[ClickHouse]:
    with empty_tables(clickhouse) as admin:
        for system, minutes in ENDS.items():
            for counted in ("disk", "job"):
                took = {"interval_s": 60 if system == "A" else 120, "system": system}
                ends = ({"ts": at(m), "boot_id": f"{system}{m > 6}"} for m in minutes)
                insert(admin, "manifest", *ends, **took, counted=counted, row_count=1)
        for minute, state in enumerate(looks().states, start=1):
            of = {"rule": "roce_cap", "system": "A", "entity_type": "nrg", "entity": f"LINK{minute}"}
            judged = {"state": state, "signal": state, "stale": False, "reason": f"because {state}", "evidence": "{}"}
            when = {"ts": at(minute).isoformat(), "since": at(minute).isoformat(), "interval_s": 60, "parameters": "0"}
            insert(admin, "verdict", {**of, **judged, **when})
        yield admin


def marks(client: ClickHouse, kind: str, *systems: str) -> list[dict[str, Any]]:
    sql = drawn_over(boards()["cf-system"])[kind].sql
    return client.rows(expand(sql, Range(BEGIN, at(20)), {"system": systems or ("A", "B")}))


def test_a_gap_is_the_time_without_a_record(client: ClickHouse) -> None:
    [gap] = marks(client, "Gaps")
    assert (gap["time"][11:16], gap["timeEnd"][11:16]) == ("09:03", "09:08")
    assert gap["text"] == "A: nothing was recorded for 5 min"
    assert marks(client, "Gaps", "B") == []


def test_a_restart_is_where_a_run_of_counters_begins_and_not_the_first_of_the_range(client: ClickHouse) -> None:
    restarts = {mark["text"]: mark["time"][11:16] for mark in marks(client, "Restarts")}
    assert restarts == {"A: counters begin anew with ATrue": "09:08", "B: counters begin anew with BTrue": "09:06"}


def test_each_spell_of_trouble_has_the_colour_of_its_state_and_its_reason(client: ClickHouse) -> None:
    drawn = {
        kind: {mark["title"].removeprefix("roce_cap "): mark["text"] for mark in marks(client, kind)}
        for kind in ("Limited", "Near a limit", "Not known")
    }
    assert drawn["Limited"].keys() == {"CAPPED", "CRITICAL"}
    assert drawn["Near a limit"].keys() == {"LIKELY", "SUSPECTED", "WARNING", "PATH_DEGRADED"}
    assert drawn["Not known"].keys() == {"STALE", "UNKNOWN"}
    for state, text in (drawn["Limited"] | drawn["Near a limit"] | drawn["Not known"]).items():
        assert text.startswith("A LINK")
        assert text.endswith(f": because {state}")
    colours = {kind: one.colour for kind, one in drawn_over(boards()["cf-system"]).items()}
    assert [colours[kind] for kind in drawn] == ["critical", "warning", "unknown"]
