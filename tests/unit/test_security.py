"""Nothing is open to others, or sent to them, without TLS and authentication; nothing connects in the clear."""

from __future__ import annotations

import re
import socket
import ssl
from pathlib import Path

import httpx
import pytest
from confluent_kafka.admin import AdminClient
from prometheus_client import CollectorRegistry, Gauge

from counterflow.base import health
from counterflow.base.clickhouse import ClickHouse
from counterflow.base.errors import CounterflowError
from counterflow.base.loopback import is_loopback
from counterflow.stack.clickhouse_server import relay_tls
from counterflow.stack.kafka_users import USERS, grants, set_passwords
from counterflow.stack.settings import StackSettings
from tests.support.dds import Authority
from tests.support.ports import free_ports
from tests.support.web import serving


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        *((host, True) for host in ("127.0.0.1", "127.9.9.9", "::1", "[::1]", "localhost")),
        *((host, False) for host in ("0.0.0.0", "::", "10.0.0.1", "perf.example.com", "localhost.example.com", "")),
    ],
)
def test_what_is_the_loopback(host: str, expected: bool) -> None:
    assert is_loopback(host) is expected


@pytest.mark.parametrize(
    ("environment", "sentence"),
    [
        ({"ADDRESS": "0.0.0.0"}, "0.0.0.0 is not a loopback address; it needs COUNTERFLOW_TLS_CERTIFICATE"),
        ({"TLS_CERTIFICATE": "/c.pem"}, "COUNTERFLOW_TLS_CERTIFICATE needs COUNTERFLOW_TLS_CA"),
        (
            {"KAFKA_BOOTSTRAP": "127.0.0.1:1,k:9092"},
            "Kafka at k is not on loopback and requires TLS; set COUNTERFLOW_TLS_CA",
        ),
    ],
)
def test_a_stack_that_others_would_reach_in_the_clear_is_refused(environment: dict[str, str], sentence: str) -> None:
    with pytest.raises(CounterflowError, match=re.escape(sentence)) as refused:
        StackSettings.from_environment({f"COUNTERFLOW_{name}": value for name, value in environment.items()})
    assert refused.value.exit_code == 2


def test_settings_alone_configure_a_client_of_servers_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "kafka-agent").write_text("hunter2\n")
    (tmp_path / "clickhouse-reader").write_text("hunter3\n")
    authority = Authority(tmp_path / "authority").authority
    settings = StackSettings.from_environment(
        {
            "COUNTERFLOW_KAFKA_BOOTSTRAP": "a.example.com:9093,b.example.com:9093",
            "COUNTERFLOW_CLICKHOUSE_URL": "https://c.example.com:8443",
            "COUNTERFLOW_TLS_CA": str(authority),
            "COUNTERFLOW_SECRETS": str(tmp_path),
        }
    )
    kafka = settings.kafka("agent")
    assert kafka.client == {
        "bootstrap.servers": "a.example.com:9093,b.example.com:9093",
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "SCRAM-SHA-512",
        "sasl.username": "agent",
        "sasl.password": "hunter2",
        "ssl.ca.location": str(authority),
    }
    with settings.clickhouse("reader") as reader:
        assert "hunter" not in repr(kafka) + repr(settings) + repr(vars(reader).keys())
    with pytest.raises(CounterflowError, match="clickhouse-lander does not exist"):
        settings.clickhouse("lander")


def test_clickhouse_is_sent_no_password_in_the_clear(tmp_path: Path) -> None:
    with pytest.raises(CounterflowError, match="the password would be sent") as refused:
        ClickHouse("http://c.example.com:8123", "reader", "hunter2")
    assert "hunter2" not in refused.value.message
    with pytest.raises(CounterflowError, match="No such file"):
        ClickHouse("https://c.example.com", "reader", "hunter2", ca=tmp_path / "none.pem")
    (tmp_path / "no.pem").write_text("nothing")
    with pytest.raises(CounterflowError, match=r"no\.pem"):
        ClickHouse("https://c.example.com", "reader", "hunter2", ca=tmp_path / "no.pem")


def test_without_passwords_there_is_nothing_to_set() -> None:
    set_passwords(AdminClient({"bootstrap.servers": "127.0.0.1:1"}), [])


def test_only_kafkas_writers_write() -> None:
    writes = {(grant.user, grant.name) for grant in grants() if grant.operation.name == "WRITE"}
    assert {user for user, _ in writes} == {"agent", "flink", "replay"}
    assert ("agent", "counterflow.disk.") in writes
    assert ("agent", "counterflow.io_mix.") not in writes
    assert ("flink", "counterflow.io_mix.") in writes
    assert ("flink", "counterflow.disk.") not in writes
    assert {grant.user for grant in grants()} == set(USERS) - {"admin"}


# /metrics


@pytest.fixture
def registry() -> CollectorRegistry:
    found = CollectorRegistry()
    Gauge("of_the_test", "One.", registry=found).set(1)
    return found


@pytest.fixture
def port() -> int:
    return free_ports(1)[0]


@pytest.mark.parametrize("given", [(), ("CERTIFICATE",), ("CLIENT_CA",)])
def test_metrics_are_served_to_other_machines_with_certificates_alone(
    registry: CollectorRegistry, port: int, monkeypatch: pytest.MonkeyPatch, given: tuple[str, ...]
) -> None:
    monkeypatch.setenv("COUNTERFLOW_METRICS_ADDRESS", "0.0.0.0")
    for name in given:
        monkeypatch.setenv(f"COUNTERFLOW_METRICS_{name}", "/nowhere.pem")
    with pytest.raises(CounterflowError, match=r"COUNTERFLOW_METRICS_ADDRESS is .*, which other machines can reach"):
        health.serve(port, registry, list)
    with socket.socket() as probe:
        assert probe.connect_ex(("127.0.0.1", port)), "nothing listens"


def test_metrics_are_served_to_clients_with_a_certificate(
    registry: CollectorRegistry, port: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours, theirs = Authority(tmp_path / "ours"), Authority(tmp_path / "theirs")
    monkeypatch.setenv("COUNTERFLOW_METRICS_CERTIFICATE", str(ours.together))
    monkeypatch.setenv("COUNTERFLOW_METRICS_CLIENT_CA", str(ours.authority))
    health.serve(port, registry, lambda: ["the other", "/secret/path cannot be read"])

    def get(path: str, shown: Authority | None = None) -> httpx.Response:
        context = ssl.create_default_context(cafile=ours.authority)
        if shown:
            context.load_cert_chain(shown.certificate, shown.key)
        return httpx.get(f"https://127.0.0.1:{port}{path}", verify=context, trust_env=False, timeout=10)

    assert "of_the_test 1.0" in get("/metrics", ours).text
    assert get("/healthz", ours).text == get("/health", ours).text == "/secret/path cannot be read\nthe other\n"
    assert (get("/metrics").status_code, get("/metrics").text) == (403, "client certificate required\n")
    assert (get("/healthz").status_code, get("/healthz").text) == (503, "unhealthy\n")
    with pytest.raises(httpx.TransportError):
        get("/metrics", theirs)
    with pytest.raises(httpx.TransportError):
        httpx.get(f"http://127.0.0.1:{port}/metrics", trust_env=False, timeout=10)


# TLS in front of the engine


def test_a_server_without_tls_is_reached_over_tls(tmp_path: Path) -> None:
    authority = Authority(tmp_path / "authority")
    with serving(lambda request: request.reply(200, request.body()), protocol="HTTP/1.1") as url:
        [port] = free_ports(1)
        relay_tls("127.0.0.1", port, authority.together, int(url.rpartition(":")[2]))
        trusted = ssl.create_default_context(cafile=authority.authority)
        body = bytes(range(256)) * 40_000
        with httpx.Client(base_url=f"https://127.0.0.1:{port}", verify=trusted, trust_env=False) as client:
            for _ in range(3):
                answer = client.post("/", content=body)
                assert answer.content == body
        with pytest.raises(httpx.TransportError):
            httpx.post(f"http://127.0.0.1:{port}/", content=b"x", trust_env=False, timeout=5)
        with pytest.raises(httpx.ConnectError):
            httpx.post(f"https://127.0.0.1:{port}/", content=b"x", trust_env=False, timeout=5)
