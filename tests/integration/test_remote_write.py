"""A Prometheus of the site receives verdicts and figures by remote write, at the ends of their intervals."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from counterflow.stack.settings import HOST, StackSettings
from tests.integration.test_alerts import tables, write_verdict
from tests.support.prometheus import prometheus, running
from tests.support.waiting import until
from tests.support.web import receiving

__all__ = ["tables"]
SYSTEM = "sends 'elsewhere'"


def exporter(metrics: str, *options: str) -> tuple[str, ...]:
    words = ("-m", "counterflow", "dev", "verdicts", "--flink-url", "http://127.0.0.1:9")
    return (sys.executable, *words, "--metrics-port", metrics.rpartition(":")[2], *options)


@pytest.fixture
def line(tables: StackSettings, new_stack: Callable[[], StackSettings]) -> tuple[StackSettings, list[str]]:
    """A ClickHouse with a verdict, and free addresses."""
    write_verdict(tables, "CAPPED", SYSTEM)
    return tables, [f"{HOST}:{port}" for port in new_stack().ports.values()]


def test_a_real_prometheus_has_the_verdict_at_the_end_of_its_interval(
    line: tuple[StackSettings, list[str]], tmp_path: Path
) -> None:
    clickhouse, (metrics, address, *_) = line

    def samples(query: str) -> list[dict[str, Any]]:
        answer = httpx.get(f"http://{address}/api/v1/query", params={"query": query}, trust_env=False)
        found: list[dict[str, Any]] = answer.raise_for_status().json()["data"]["result"]
        return found

    write = ("--remote-write", f"http://{address}/api/v1/write")
    with (
        prometheus(tmp_path, address, {}, "--web.enable-remote-write-receiver"),
        running(tmp_path / "exporter.log", *exporter(metrics, *write), **clickhouse.environment),
    ):
        state = f'counterflow_verdict_state{{system="{SYSTEM}"}}'
        found = until(lambda: samples(state), f"verdict: {(tmp_path / 'exporter.log').read_text()}")
        of = {one["metric"]["state"]: one["value"][1] for one in found}
        assert of["CAPPED"] == "1"
        assert set(of.values()) == {"0", "1"}
        [share] = samples(f'counterflow_verdict_figure{{system="{SYSTEM}", figure="share"}}')
        assert share["value"][1] == "0.7004"
        [end] = samples(f'counterflow_verdict_timestamp_seconds{{system="{SYSTEM}"}}')
        [written] = samples(f'timestamp(counterflow_verdict_state{{system="{SYSTEM}", state="CAPPED"}})')
        assert abs(float(written["value"][1]) - float(end["value"][1])) < 0.002
        write_verdict(clickhouse, "OK", SYSTEM)
        until(
            lambda: samples(f'counterflow_verdict_state{{system="{SYSTEM}", state="OK"}} == 1'),
            "the next verdict",
        )


def test_the_token_is_sent_and_never_in_the_clear(line: tuple[StackSettings, list[str]], tmp_path: Path) -> None:
    clickhouse, (metrics, *_) = line
    token = tmp_path / "token"
    token.write_text("a token\n")
    with receiving() as (url, seen):
        write = ("--remote-write", url, "--remote-write-token", str(token))
        with running(tmp_path / "log", *exporter(metrics, *write), **clickhouse.environment):
            until(lambda: seen, f"request: {(tmp_path / 'log').read_text()}")
    found = {(post.headers["Authorization"], post.headers["Content-Encoding"]) for post in seen}
    assert found == {("Bearer a token", "snappy")}
    open_ = ("--remote-write", "http://metrics.example/write", "--remote-write-token", str(token))
    with running(tmp_path / "refused", *exporter(metrics, *open_), **clickhouse.environment):
        until(lambda: "a token needs https:" in (tmp_path / "refused").read_text(), "refusal")


def test_a_store_that_was_away_gets_the_newest_sample(line: tuple[StackSettings, list[str]], tmp_path: Path) -> None:
    clickhouse, (metrics, store, *_) = line
    write = ("--remote-write", f"http://{store}/write")
    with running(tmp_path / "log", *exporter(metrics, *write), **clickhouse.environment):
        until(lambda: "remote write: no answer" in (tmp_path / "log").read_text(), "warning")
        with receiving(int(store.rpartition(":")[2])) as (_, seen):
            until(lambda: seen, "request once the store is there")
    assert b"counterflow_verdict_state" in seen[0].body
    assert SYSTEM.encode() in seen[0].body
