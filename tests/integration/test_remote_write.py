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
from tests.support.command_line import run
from tests.support.prometheus import prometheus, running
from tests.support.waiting import until
from tests.support.web import receiving

__all__ = ["tables"]
SYSTEM = "sends 'elsewhere'"
EXPORTER = (sys.executable, "-m", "counterflow", "dev", "verdicts", "--no-flink")


@pytest.fixture
def line(tables: StackSettings, new_stack: Callable[[], StackSettings]) -> tuple[dict[str, str], list[str]]:
    """The variables of an exporter beside a ClickHouse with a verdict, and free addresses."""
    write_verdict(tables, "CAPPED", SYSTEM)
    other = new_stack()
    named = {"home": other.home, "secrets": tables.secrets, "clickhouse_url": tables.clickhouse_url}
    metrics, *free = other.ports.values()
    variables = {f"COUNTERFLOW_{name.upper()}": str(value) for name, value in named.items()}
    return variables | {"COUNTERFLOW_VERDICTS_METRICS_PORT": str(metrics)}, [f"{HOST}:{port}" for port in free]


def test_a_real_prometheus_has_the_verdict_at_the_end_of_its_interval(
    line: tuple[dict[str, str], list[str]], tables: StackSettings, tmp_path: Path
) -> None:
    variables, (address, *_) = line

    def samples(query: str) -> list[dict[str, Any]]:
        answer = httpx.get(f"http://{address}/api/v1/query", params={"query": query}, trust_env=False)
        found: list[dict[str, Any]] = answer.raise_for_status().json()["data"]["result"]
        return found

    to = {"COUNTERFLOW_REMOTE_WRITE": f"http://{address}/api/v1/write"}
    with (
        prometheus(tmp_path, address, {}, "--web.enable-remote-write-receiver"),
        running(tmp_path / "exporter.log", *EXPORTER, **variables, **to),
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
        write_verdict(tables, "OK", SYSTEM)
        until(
            lambda: samples(f'counterflow_verdict_state{{system="{SYSTEM}", state="OK"}} == 1'),
            "the next verdict",
        )


def test_a_store_that_was_away_gets_the_newest_sample_with_the_token(
    line: tuple[dict[str, str], list[str]], tmp_path: Path
) -> None:
    variables, (store, *_) = line
    token, log = tmp_path / "token", tmp_path / "log"
    token.write_text("a token\n")
    to = {"COUNTERFLOW_REMOTE_WRITE": f"http://{store}/write", "COUNTERFLOW_REMOTE_WRITE_TOKEN": str(token)}
    with running(log, *EXPORTER, **variables, **to):
        until(lambda: "remote write: no answer" in log.read_text(), "warning")
        with receiving(int(store.rpartition(":")[2])) as (_, seen):
            until(lambda: seen, "request once the store is there")
    found = {(post.headers["Authorization"], post.headers["Content-Encoding"]) for post in seen}
    assert found == {("Bearer a token", "snappy")}
    assert b"counterflow_verdict_state" in seen[0].body
    assert SYSTEM.encode() in seen[0].body
    refused = run("dev", "verdicts", **variables, **to | {"COUNTERFLOW_REMOTE_WRITE": "http://metrics.example/write"})
    assert refused.returncode == 2
    assert "a token needs https:" in refused.stderr
