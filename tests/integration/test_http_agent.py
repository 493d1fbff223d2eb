"""`counterflow agent run` with a DDS over HTTPS and a real broker: killed at any moment, each interval once."""

from __future__ import annotations

import random
import sys
import time
from collections import Counter
from pathlib import Path

import httpx
import pytest
import yaml

from counterflow.collectors.agent.checkpoint import StreamId
from counterflow.schemas.definition import topics
from counterflow.stack.kafka import create_topics
from counterflow.stack.settings import StackSettings
from tests.support.agents import AgentProcess, committed, published, until
from tests.support.dds import PASSWORD, USER, Authority, Dds
from tests.support.ports import free_ports

NAME = "http-agent-test"


@pytest.fixture
def dds(tmp_path: Path) -> Dds:
    return Dds(Authority(tmp_path / "authority"))


@pytest.fixture(scope="module")
def broker(kafka: StackSettings) -> StackSettings:
    create_topics(kafka, topics())
    return kafka


def reached(broker: StackSettings, dds: Dds) -> bool:
    """Return whether both reports of the newest interval are committed."""
    streams = committed(broker, NAME).streams
    found = [streams.get(StreamId("sys1", "SYS1", report)) for report in ("SYSINFO", "PROCU")]
    return all(one is not None and one.position.get("end") == f"202511210{100 + dds.intervals}00" for one in found)


def test_killed_at_any_moment_it_publishes_each_interval_once(broker: StackSettings, dds: Dds, tmp_path: Path) -> None:
    [port] = free_ports(1)
    (tmp_path / "password").write_text(PASSWORD)
    assert dds.authority
    connection = {"url": dds.url, "user": USER, "password": {"file": "password"}, "ca": str(dds.authority.authority)}
    source = {"kind": "http", "name": "sys1", "system": "SYS1", "connection": connection, "interval_s": 0.2}
    config = {
        "agent_id": NAME,
        "kafka": broker.kafka("agent").described,
        "metrics_port": port,
        "poll_s": 0.1,
    }
    path = tmp_path / "agent.yaml"
    path.write_text(yaml.safe_dump(config | {"commit": {"interval_s": 0.2}, "sources": [source | {"run": "base"}]}))
    command = [sys.executable, "-m", "counterflow", "agent", "run", "--config", str(path)]
    chance, logs = random.Random(5), []
    try:
        for turn in range(4):
            logs.append(tmp_path / f"{turn}.log")
            with AgentProcess(command, logs[-1]) as agent:
                for _ in range(3):
                    until(lambda: reached(broker, dds), log=agent.log)
                    dds.intervals += 1
                if turn < 3:
                    time.sleep(chance.uniform(0, 0.5))
                    agent.process.kill()
                    continue
                until(lambda: reached(broker, dds), log=agent.log)
                metrics = httpx.get(f"http://127.0.0.1:{port}/metrics").text
                agent.stop()
    finally:
        dds.stop()
    rows = published(broker, NAME)
    assert [row["seq"] for row in rows] == list(range(1, len(rows) + 1))
    expected = Counter({f"2025-11-21T01:{n:02}:00Z": 1 for n in range(1, dds.intervals + 1)})
    shares = [row for row in rows if row["dataset"] == "system_cpu" and row["engine_type"] == "gcp"]
    jobs = [row for row in rows if row["dataset"] == "job"]
    assert Counter(row["ts"] for row in shares) == Counter(row["ts"] for row in jobs) == expected
    assert [row["busy_pct"] for row in shares] == [row["gcp_ms"] for row in jobs] == list(range(1, dds.intervals + 1))
    assert [row for row in rows if row["dataset"] == "quality"] == []
    assert {row["run"] for row in rows} == {"base"}
    assert 'counterflow_agent_system_connected{source="sys1"} 1.0' in metrics
    for text in (metrics, repr(rows), repr(committed(broker, NAME)), *(log.read_text() for log in logs)):
        assert PASSWORD not in text
