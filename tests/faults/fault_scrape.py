"""Fault 25: a scraped target is killed and frozen, then the agent that scrapes it is killed."""

from __future__ import annotations

import collections
import time
from collections.abc import Callable
from datetime import datetime
from itertools import pairwise
from pathlib import Path

import pytest

from counterflow.schemas import topics
from counterflow.schemas.definition import datasets
from counterflow.stack.kafka import create_topics
from counterflow.stack.settings import StackSettings
from tests.support.agents import Agent, Rows, published
from tests.support.node_exporter import NodeExporter
from tests.support.waiting import until

NAME = "faults-scrape"
EVERY_S = 2.0
MISSED = 4
FAULTS = "node_vmstat_pgfault"


def agent(folder: Path, broker: StackSettings, **urls: str) -> Agent:
    """Start an agent that scrapes each address, as the system of that name."""
    sources = [
        {
            "kind": "openmetrics",
            "name": name,
            "system": name,
            "connection": {"url": url},
            "interval_s": EVERY_S,
            "timeout_s": EVERY_S,
        }
        for name, url in urls.items()
    ]
    return Agent(folder, broker, NAME, *sources)


def values(rows: Rows, system: str, counter: str) -> dict[datetime, float]:
    """Return what a counter of a target was, by the time of the scrape."""
    of = {"dataset": "counter", "system": system, "counter": counter}
    return {time_of(row): row["value"] for row in rows if of.items() <= row.items()}


def time_of(row: dict[str, str]) -> datetime:
    return datetime.fromisoformat(row["ts"])


def test_a_missed_scrape_is_a_gap_and_delays_no_other_target(
    kafka: StackSettings, tmp_path: Path, report: Callable[..., None]
) -> None:
    create_topics(kafka, topics())

    def scrapes(system: str, up: int) -> int:
        return list(values(published(kafka, NAME), system, "up").values()).count(up)

    def more(number: int, up: int) -> None:
        before = scrapes("target", up)
        until(lambda: scrapes("target", up) >= before + number, f"log in {tmp_path}", every_s=0.5)

    def missed() -> None:
        """Wait until scrapes of the target failed; those of the other went on at their interval meanwhile."""
        began, before = time.monotonic(), scrapes("other", 1)
        more(MISSED, up=0)
        expected = (time.monotonic() - began) / EVERY_S
        assert scrapes("other", 1) - before >= 0.7 * expected - 1

    with NodeExporter() as target, NodeExporter() as other:
        with agent(tmp_path, kafka, target=target.url, other=other.url) as first:
            more(4, up=1)
            target.kill()
            missed()
            target.start()
            more(4, up=1)
            target.freeze()
            missed()
            target.thaw()
            more(4, up=1)
            first.process.kill()
        time.sleep(MISSED * EVERY_S)
        began = time.monotonic()
        with agent(tmp_path, kafka, target=target.url, other=other.url) as second:
            more(1, up=1)
            seconds = time.monotonic() - began
            more(3, up=1)
            second.stop()
    rows = published(kafka, NAME)
    assert [row["seq"] for row in rows] == list(range(1, len(rows) + 1))
    keys = collections.Counter(
        (row["dataset"], *(row.get(name) for name in datasets()[row["dataset"]].key)) for row in rows
    )
    assert [key for key, times in keys.items() if times > 1 and key[0] != "quality"] == []
    assert gaps(rows, "target") == 3
    assert gaps(rows, "other") == 1, "while the agent was away"
    report(25, seconds)


def gaps(rows: Rows, system: str) -> int:
    """Count the gaps between scrapes, none of which has an amount; the others have exactly what the target counted."""
    counted = values(rows, system, FAULTS)
    of = {"dataset": "pool", "system": system}
    pools = {time_of(row): row for row in rows if of.items() <= row.items()}
    reported = [time_of(row) for row in rows if row.get("reason") == "sample_missing" and row["system"] == system]
    found = amounts = 0
    for before, at in pairwise(sorted(counted)):
        apart_s = (at - before).total_seconds()
        if apart_s > 2 * EVERY_S:
            assert "faults" not in pools[at]
            assert at in reported
            found += 1
        elif "faults" in pools[at]:
            assert pools[at]["interval_s"] == pytest.approx(apart_s)
            assert pools[at]["faults"] == counted[at] - counted[before]
            amounts += 1
    assert amounts >= len(counted) / 2
    return found
