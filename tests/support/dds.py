"""A Distributed Data Server of our own: HTTPS, user and password, reports of intervals that the test lets end.

Written from the requests of IBM's client and the responses that it reads (github.com/IBM/RMF, grafana/rmf-app).
"""

from __future__ import annotations

import base64
import contextlib
import json
import socket
import ssl
import subprocess
import threading
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from counterflow.stack.settings import StackSettings
from tests.support.ports import free_ports

USER, PASSWORD = "FLOW", "pass-w0rd$"
BEGIN = datetime(2025, 11, 21, 1, 0, tzinfo=UTC)
CAPTIONS = {"SYSPRVVC": "6.0", "SYSCUIVC": "23.3", "SYSPRTVC": "10.0", "SYSATCVC": "0.4"}
PROCU = ("PRUPJOB", "PRUPASI", "PRUPSVCL", "PRUTCPE", "PRUTIIPE", "PRUTIICT")


class Authority:
    """A certificate authority, and a certificate of it for 127.0.0.1."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.authority, authority_key = folder / "ca.pem", folder / "ca-key.pem"
        self.certificate, self.key = folder / "dds.pem", folder / "dds-key.pem"
        new = ["openssl", "req", "-config", "/dev/null", "-x509", "-nodes"]
        new += ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]
        own = [*new, "-days", "2", "-subj", "/CN=authority of the test", "-addext", "keyUsage=critical,keyCertSign"]
        own += ["-addext", "basicConstraints=critical,CA:TRUE"]
        signed = [*new, "-days", "2", "-subj", "/CN=dds", "-addext", "subjectAltName=IP:127.0.0.1"]
        signed += ["-addext", "basicConstraints=critical,CA:FALSE", "-CA", self.authority, "-CAkey", authority_key]
        for command, key, certificate in (
            (own, authority_key, self.authority),
            (signed, self.key, self.certificate),
        ):
            subprocess.run([*command, "-keyout", key, "-out", certificate], check=True, capture_output=True)
        self.together = folder / "server.pem"
        self.together.write_text("".join(path.read_text() for path in (self.key, self.certificate, self.authority)))

    def over_tls(self, settings: StackSettings) -> StackSettings:
        """Return settings of the same stack, whose Kafka and ClickHouse speak TLS alone."""
        plain = settings.model_dump(exclude={"kafka_bootstrap", "clickhouse_url"})
        return StackSettings(**plain | {"tls_certificate": self.together, "tls_ca": self.authority})


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, dds: Dds) -> None:
        self.dds = dds
        self.open: set[socket.socket] = set()
        super().__init__(("127.0.0.1", dds.port), _Handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        self.open.add(request)
        super().process_request(request, client_address)

    def handle_error(self, *_: Any) -> None:
        pass  # a client that goes away

    def hang_up(self) -> None:
        for one in self.open:
            with contextlib.suppress(OSError):  # it may be closed already
                one.shutdown(socket.SHUT_RDWR)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def setup(self) -> None:
        super().setup()
        self.server.dds.connections += 1

    def do_GET(self) -> None:
        self.server.dds.answer(self)

    def log_message(self, *_: Any) -> None:
        pass


class Dds:
    """The server. `intervals` counts those that have ended; `status`, `no_data` and `extension` change its answers.

    Without an authority it speaks HTTP and is unauthenticated.
    """

    def __init__(self, authority: Authority | None = None) -> None:
        self.authority = authority
        self.password = PASSWORD
        self.intervals = 1
        self.gathered_s = 1
        self.status: int | None = None
        self.no_data = False
        self.content_type = "application/json;charset=UTF-8"
        self.extension = ""
        self.requested: list[str] = []
        self.passwords: list[str] = []
        self.connections = 0
        [self.port] = free_ports(1)
        self._server: _Server | None = None
        self.start()

    @property
    def url(self) -> str:
        return f"{'https' if self.authority else 'http'}://127.0.0.1:{self.port}"

    def start(self) -> None:
        self._server = _Server(self)
        if self.authority:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(self.authority.certificate, self.authority.key)
            listening = self._server.socket
            self._server.socket = context.wrap_socket(listening, server_side=True, do_handshake_on_connect=False)
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    def stop(self) -> None:
        server, self._server = self._server, None
        if server is not None:
            server.shutdown()
            server.server_close()
            server.hang_up()

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        url = urlsplit(request.path)
        query = {name: values[0] for name, values in parse_qs(url.query).items()}
        status, body = 200, b""
        self.requested.append(query.get("report", url.path))
        if self.authority:
            sent = request.headers.get("Authorization", "").removeprefix("Basic ")
            user, _, password = base64.b64decode(sent).decode().partition(":")
            self.passwords.append(password)
            if (user, password) != (USER, self.password):
                status = 401
        if status == 200 and self.status is not None:
            status = self.status
        elif status == 200 and url.path == f"/gpm/root{self.extension}":
            body = b'{"report": []}'
        elif status == 200 and url.path == f"/gpm/rmfm3{self.extension}":
            body = json.dumps(self.response(query["report"], query["resource"])).encode()
        elif status == 200:
            status = 404
        body = body or f"<html>{status} {self.password}</html>".encode()
        request.send_response(status)
        request.send_header("Content-Type", self.content_type if status == 200 else "text/html")
        request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        request.wfile.write(body)

    def response(self, report: str, resource: str) -> dict[str, Any]:
        end = BEGIN + timedelta(minutes=self.intervals)
        start = end - timedelta(minutes=1)
        content: dict[str, Any] = {
            "metric": {"id": report, "format": "report"},
            "resource": {"reslabel": resource, "restype": resource.split(",")[-1]},
            "timeData": {
                "utcStart": f"{start:%Y%m%d%H%M%S}",
                "utcEnd": f"{end:%Y%m%d%H%M%S}",
                "gathererInterval": {"unit": "SECONDS", "value": self.gathered_s},
            },
            "row": [],
        }
        if self.no_data:
            content["message"] = {"id": "GPM0507I", "severity": 3, "description": "no valid data for the time range"}
        elif report == "SYSINFO":
            shown = {"SYSCUVVC": str(self.intervals % 100), **CAPTIONS}
            content["caption"] = {"var": [{"name": name, "value": value} for name, value in shown.items()]}
        elif report == "PROCU":
            content["columnHeaders"] = {"col": [{"value": name, "type": "T"} for name in PROCU]}
            content["row"] = [{"refno": 1, "col": ["DBP1DBM1", "0975", "DB2HIGH", str(self.intervals), "20", "3"]}]
        return {"message": [], "report": [content], "server": {"name": "RMF-DDS-Server", "version": "03.02.00"}}
