"""The stored questions about links and verdicts, over rows whose answers are plain to work out."""

from __future__ import annotations

from typing import Any

import pytest

from counterflow.analysis.queries import queries, run_stored
from counterflow.base.clickhouse import ClickHouse
from tests.support.tables import insert


def at(second: int) -> str:
    return f"2026-02-01 10:{second // 60:02}:{second % 60:02}.000"


def group(system: str, second: int, out_bytes_s: float, in_bytes_s: float) -> dict[str, Any]:
    figures = {"own_out_bytes_s": out_bytes_s, "own_in_bytes_s": in_bytes_s, "group": "ANSA ANSB", "reset": False}
    figures |= {"line_bits_s": 1e11, "capacity_pct": 3.0, "out_line_pct": out_bytes_s * 8 / 1e9, "in_line_pct": 0.0}
    return {"ts": at(second), "interval_s": 15.0, "system": system, "link": "MIRROR_DATABASE"} | (
        figures | {"link_type": "nrg", "out_capacity_pct": out_bytes_s * 8 / 3e7, "in_capacity_pct": 0.0}
    )


def test_links_and_skew(client: ClickHouse) -> None:
    rows = [group("ANSA", 15, 3e8, 1e8), group("ANSA", 30, 5e8, 1e8), group("ANSA", 45, 9e9, 9e9)]
    rows += [group("ANSB", 15, 1e8, 3e8), group("ANSB", 30, 1e8, 1e8)]
    insert(client, "link_load", *rows)
    [first, second] = run_stored(client, queries()["links"], ["ANSA", "ANSB"])
    assert (first["system"], first["out_mb_s"], first["in_mb_s"]) == (
        "ANSA",
        pytest.approx(3266.67),
        pytest.approx(3066.67),
    )
    assert (first["line_pct_max"], first["capacity_pct"], first["of_capacity_pct_max"]) == (72, 3, 2400)
    assert (second["system"], second["out_mb_s"], second["in_mb_s"]) == ("ANSB", 100, 200)
    # over the 30 s that both have: A sent 400 MB/s, B received 200; B sent 100, A received 100
    found = run_stored(client, queries()["link_skew"], ["ANSA", "ANSB"])
    shown = [
        (row["from_system"], row["sent_mb_s"], row["received_mb_s"], row["skew_pct"], row["note"]) for row in found
    ]
    assert shown == [("ANSA", 400, 200, 50, "skewed"), ("ANSB", 100, 100, 0, "")]


def test_the_newest_verdict_is_shown_the_alarming_first(client: ClickHouse) -> None:
    def verdict(entity: str, second: int, state: str, since: int, n: int = 3) -> dict[str, Any]:
        text = {"reason": f"because {second}", "evidence": "{}", "parameters": "p", "stale": False, "signal": state}
        entity_of = {"rule": "roce_cap", "system": "ANSC", "entity_type": "nrg", "entity": entity}
        return {"ts": at(second), "interval_s": 15.0, "n": n, **entity_of, "state": state, "since": at(since), **text}

    rows = [
        verdict("a", 15, "OK", 15),
        verdict("b", 15, "OK", 15),
        verdict("b", 30, "OK", 15, n=1),
        verdict("b", 30, "CAPPED", 30),
    ]
    insert(client, "verdict", *rows)
    found = run_stored(client, queries()["verdicts"], ["ANSC"])
    shown = [
        (row["entity"], row["state_now"], row["state_since"], row["intervals_not_ok"], row["why"]) for row in found
    ]
    assert shown == [("b", "CAPPED", at(30), 1, "because 30"), ("a", "OK", at(15), 0, "because 15")]
