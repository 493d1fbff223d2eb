"""The one-machine stack through `counterflow up`, `status` and `down`, with the real servers."""

from __future__ import annotations

import ipaddress
import json
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import httpx
import psutil
from confluent_kafka import Consumer, Producer
from confluent_kafka.admin import AdminClient, NewTopic
from prometheus_client.parser import text_string_to_metric_families

from counterflow.pipelines.jobs import all_jobs
from counterflow.stack import lifecycle, supervision
from counterflow.stack.settings import StackSettings
from tests.support.agents import AgentProcess
from tests.support.command_line import run_apart
from tests.support.dds import Authority
from tests.support.ports import is_free
from tests.support.recordings import RECORDINGS
from tests.support.waiting import PATIENCE_S, until

SAMPLE = RECORDINGS / "linux_16n_plain.nmon"
PARTS = {"supervisor", "kafka", "clickhouse", "jobmanager", "taskmanager", "lander", "exporter", "jobs", "health"}
NewStack = Callable[[], StackSettings]


def counterflow(settings: StackSettings, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    values = settings.model_dump(exclude_none=True) | {"grafana": settings.grafana or "none"}
    named = {f"COUNTERFLOW_{name.upper()}": str(value) for name, value in values.items()}
    return run_apart(*words, within_s=900, **named | environment)


def test_status_shows_every_part_running(stack: StackSettings) -> None:
    result = counterflow(stack, "status", "--json")
    assert result.returncode == 0
    answer = json.loads(result.stdout)
    assert answer["running"]
    parts = {part["name"]: part for part in answer["parts"]}
    assert parts.keys() >= PARTS
    for part in parts.values():
        assert psutil.pid_exists(part["pid"])
        assert part["rss_bytes"] > 10**6
    table = counterflow(stack, "status").stdout
    assert all(name in table for name in parts)


def test_a_healthy_start_prints_nothing_that_reads_like_a_failure(
    stack: StackSettings, printed_at_start: list[str]
) -> None:
    assert [line.split()[0] for line in printed_at_start][-2:] == ["jobs", "health"]
    assert not [line for line in printed_at_start if re.search(r"\b(not|no|fail\w*|error|cannot)\b", line)]
    assert "BackgroundJobsAssignee" not in (stack.logs / "clickhouse-engine.log").read_text(), "one line for each task"


def test_the_state_of_all_jobs_shares_one_bound(stack: StackSettings) -> None:
    """Jobs have no bound of their own, so without that of the TaskManager there would be none."""
    log = (stack.logs / "taskmanager.log").read_text()
    assert set(re.findall(r"Getting shared memory for RocksDB: (\S+),", log)) == {"shareScope=TM"}
    assert set(re.findall(r"Obtained shared RocksDB cache of size (\d+) bytes", log)) == {str(64 << 20)}


def test_an_agent_runs_with_the_configuration_that_up_wrote(stack: StackSettings, tmp_path: Path) -> None:
    config = stack.home / "agent.yaml"
    checked = counterflow(stack, "agent", "check", str(config))
    assert checked.returncode == 0, checked.stderr
    shutil.copy(SAMPLE, stack.home / "inbox")
    log, name = tmp_path / "log", "from-the-inbox"
    words = (sys.executable, "-m", "counterflow", "agent", "run", "--config", str(config), "--agent-id", name)
    with AgentProcess(words, log) as agent, stack.clickhouse("reader") as reader:
        ledger = f"SELECT sum(rows) AS n FROM counterflow.ledger WHERE agent_id = '{name}'"
        until(lambda: int(reader.rows(ledger)[0]["n"]) > 0, log)
        agent.stop()


def test_the_exporter_reports_jobs_and_their_checkpoints(stack: StackSettings) -> None:
    url = f"http://127.0.0.1:{stack.verdicts_metrics_port}/metrics"
    checkpoint, end = "counterflow_job_checkpoint_timestamp_seconds", time.monotonic() + PATIENCE_S
    metrics: dict[str, dict[str, float]] = {}
    while len(metrics.get(checkpoint, {})) < len(all_jobs()):  # each makes its first within seconds
        assert time.monotonic() < end, metrics
        text = httpx.get(url, timeout=20, trust_env=False).raise_for_status().text
        metrics = {
            family.name: {sample.labels.get("flink_job", ""): sample.value for sample in family.samples}
            for family in text_string_to_metric_families(text)
        }
    assert metrics["counterflow_flink_up"] == {"": 1}
    assert metrics["counterflow_exporter_clickhouse_up"] == {"": 1}
    assert metrics["counterflow_job_running"] == dict.fromkeys(all_jobs(), 1)
    assert all(abs(moment - time.time()) < 300 for moment in metrics[checkpoint].values())
    assert metrics["counterflow_job_failed_checkpoints"].keys() == all_jobs().keys()


def test_a_second_up_reports_that_it_runs(stack: StackSettings) -> None:
    before = supervision.states(stack)
    result = counterflow(stack, "up")
    assert result.returncode == 0
    assert "already running" in result.stdout
    assert {name: state.pid for name, state in supervision.states(stack).items()} == {
        name: state.pid for name, state in before.items()
    }


def test_nothing_listens_beyond_the_loopback(stack: StackSettings) -> None:
    pids = {process.pid for process in supervision.processes(stack)}
    sockets = [c for c in psutil.net_connections("inet") if c.pid in pids]
    listening = [c.laddr for c in sockets if c.status == psutil.CONN_LISTEN or (c.type == socket.SOCK_DGRAM)]
    assert set(stack.ports.values()) <= {address.port for address in listening}
    for address in listening:
        ip = ipaddress.ip_address(address.ip)
        mapped = ip.ipv4_mapped if isinstance(ip, ipaddress.IPv6Address) else None
        assert (mapped or ip).is_loopback, address


def test_data_outlives_down_and_a_new_certificate(new_stack: NewStack, tmp_path: Path) -> None:
    """Kafka and ClickHouse speak TLS alone after an `up` with a certificate, and keep what they took before."""
    settings = new_stack()
    lifecycle.start(settings, "kafka", "clickhouse")
    with settings.clickhouse("admin") as admin:
        admin.post("CREATE TABLE kept (x UInt8) ENGINE = MergeTree ORDER BY x")
        admin.post("INSERT INTO kept VALUES (42)")
    broker = AdminClient({**settings.kafka("admin").client})
    broker.create_topics([NewTopic("kept", 1, 1)])["kept"].result()
    producer = Producer({**settings.kafka("admin").client})
    producer.produce("kept", b"a record")
    assert producer.flush(PATIENCE_S) == 0

    assert counterflow(settings, "down", JAVA_HOME="", PATH="/nowhere").returncode == 0, "stopping needs no Java"
    assert_nothing_runs(settings)
    assert counterflow(settings, "status").returncode == 1
    assert "Nothing was running" in counterflow(settings, "down").stdout

    secured = Authority(tmp_path / "authority").over_tls(settings)
    lifecycle.start(secured, "kafka", "clickhouse")
    with secured.clickhouse("admin") as admin:
        assert admin.rows("SELECT x FROM kept") == [{"x": 42}]
    consumer = Consumer({**secured.kafka("admin").client, "group.id": "test", "auto.offset.reset": "earliest"})
    consumer.subscribe(["kept"])
    message = consumer.poll(PATIENCE_S)
    consumer.close()
    assert message is not None
    assert message.value() == b"a record"
    lifecycle.down(secured)
    assert_nothing_runs(secured)


def test_jobs_are_listed_cancelled_and_submitted_again(stack: StackSettings) -> None:
    def listed() -> dict[str, tuple[str, str]]:
        lines = counterflow(stack, "jobs", "list", "--json").stdout.splitlines()
        return {one["job"]: (one["state"], one["job_id"]) for one in map(json.loads, lines)}

    before = listed()
    assert {name: state for name, (state, _) in before.items()} == dict.fromkeys(all_jobs(), "RUNNING")
    assert counterflow(stack, "jobs", "cancel", "io_mix").stdout == "io_mix cancelled\n"

    def is_back() -> bool:  # by the part that watches
        state, job_id = listed().get("io_mix", ("", ""))
        return state == "RUNNING" and job_id != before["io_mix"][1]

    until(is_back)
    assert counterflow(stack, "jobs", "submit", "io_mix").stdout == "io_mix running\n"


def assert_nothing_runs(settings: StackSettings) -> None:
    assert supervision.processes(settings) == []
    assert [port for port in settings.ports.values() if not is_free(port)] == []
