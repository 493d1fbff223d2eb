"""Flink and its ports serve the stack alone: another process of the machine gets no answer."""

from __future__ import annotations

import socket
import ssl
from contextlib import ExitStack
from pathlib import Path

import httpx
import psutil
import pytest
from cryptography import x509

from counterflow.pipelines import submission
from counterflow.pipelines.submission import rest
from counterflow.stack import certificate, supervision
from counterflow.stack.jobs import cluster
from counterflow.stack.settings import HOST, StackSettings

PARTS = ("jobmanager", "taskmanager")
ALERT = b"\x15\x03"
"""How a refusal by TLS begins (RFC 8446, section 5.1)."""


def ports(stack: StackSettings) -> dict[str, set[int]]:
    """Return every port that Flink's processes listen on, including those that they choose."""
    found = {part: psutil.Process(supervision.states(stack)[part].pid).net_connections("tcp") for part in PARTS}
    return {part: {s.laddr.port for s in of if s.status == psutil.CONN_LISTEN} for part, of in found.items()}


def context(trusted: Path, shown: Path | None) -> ssl.SSLContext:
    made = ssl.create_default_context(cafile=trusted)
    if shown:
        made.load_cert_chain(shown)
    return made


def response(port: int, context: ssl.SSLContext | None) -> bytes | None:
    """Send a request to a port; return its response within two seconds, None where it refuses."""
    with socket.create_connection((HOST, port), timeout=2) as plain, ExitStack() as stack:
        try:
            connection = stack.enter_context(context.wrap_socket(plain, server_hostname=HOST)) if context else plain
            connection.sendall(b"GET /jobs/overview HTTP/1.1\r\nHost: x\r\n\r\n")
            answer = connection.recv(1 << 16)
        except TimeoutError:
            return b""
        except OSError:
            return None
    return None if not answer or answer.startswith(ALERT) else answer


@pytest.fixture
def another(tmp_path: Path) -> Path:
    """A certificate like the stack's, of another home."""
    pem, _ = certificate.issue(b"x")
    path = tmp_path / "another.pem"
    path.write_bytes(pem)
    return path


def test_no_port_answers_without_the_certificate_of_the_stack(flink: StackSettings, another: Path) -> None:
    ours, found = flink.flink_certificate, ports(flink)
    assert {flink.flink_port, flink.flink_rpc_port, flink.flink_blob_port} <= found["jobmanager"]
    assert found["taskmanager"]
    for port in set.union(*found.values()):
        assert response(port, context(ours, None)) is None, "no certificate is shown"
        assert response(port, context(ours, another)) is None, "that of another home is shown"
        assert response(port, context(ours, ours)) is not None or port != flink.flink_port
        plain = response(port, None)
        assert plain is None or plain.startswith(b"HTTP/1.1 301"), "sent to https"


def test_the_stack_is_served_and_trusts_no_other_server(flink: StackSettings, another: Path) -> None:
    with rest.client(flink.flink_url, flink.flink_certificate, timeout_s=20) as client:
        assert client.get("/jobs/overview").raise_for_status().json().keys() == {"jobs"}
    assert {status.state for status in submission.listing(cluster(flink))} == {"NOT SUBMITTED"}
    with (
        rest.client(flink.flink_url, another, timeout_s=20) as deceived,
        pytest.raises(httpx.ConnectError, match="CERTIFICATE_VERIFY_FAILED"),
    ):
        deceived.get("/jobs/overview")


def test_a_certificate_is_made_once_and_does_not_expire(tmp_path: Path) -> None:
    """As each part does when it starts; RFC 5280, 4.1.2.5, has the end of one that does not expire."""
    settings = StackSettings(home=tmp_path)
    certificate.make(settings)
    before = settings.flink_certificate.read_bytes()
    certificate.make(settings)
    assert settings.flink_certificate.read_bytes() == before
    end = x509.load_pem_x509_certificate(before).not_valid_after_utc
    assert f"{end:%Y%m%d%H%M%S}Z" == "99991231235959Z"
    assert {path.stat().st_mode & 0o777 for path in settings.flink_certificate.parent.iterdir()} == {0o600}
    settings.flink_certificate.unlink()
    certificate.make(settings)
    assert settings.flink_certificate.read_bytes() != before
