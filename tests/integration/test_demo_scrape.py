"""The part of `counterflow demo` that scrapes a node_exporter of this machine, without Flink."""

from __future__ import annotations

import platform
from collections.abc import Iterator
from pathlib import Path

import pytest

from counterflow.base.clickhouse import ClickHouse
from counterflow.cli._scraped import scrape
from counterflow.stack import lifecycle, supervision
from counterflow.stack.settings import StackSettings
from tests.support.ports import is_free


@pytest.fixture
def landing(broker: StackSettings, client: ClickHouse) -> Iterator[StackSettings]:
    """A broker and an engine with empty tables, and a lander between them."""
    assert client
    lifecycle.start(broker, "lander")
    yield broker
    supervision.stop(broker, "lander")


def test_what_is_scraped_lands_and_is_answered(landing: StackSettings) -> None:
    with landing.clickhouse("reader") as reader:
        scraped = scrape(landing, reader, "demo-scrape")
    assert scraped, "there is no prometheus-node-exporter: make node_exporter"
    assert (scraped.account.lost, scraped.account.deadletter) == (0, 0)
    assert scraped.account.landed == scraped.account.acked > 1_000
    [row] = scraped.rows
    assert (row["system"], row["engine_type"]) == (platform.node(), "core")
    assert 0 <= row["cpu_pct_avg"] <= 100
    assert is_free(int(scraped.address.rpartition(":")[2])), "node_exporter still runs"


def test_without_a_node_exporter_nothing_is_scraped(
    landing: StackSettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with landing.clickhouse("reader") as reader:
        assert scrape(landing, reader, "demo-no-scrape") is None
