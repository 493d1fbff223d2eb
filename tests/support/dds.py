"""A Distributed Data Server of our own: HTTPS, user and password, reports of intervals that the test lets end.

Written from the requests of IBM's client and the responses that it reads (github.com/IBM/RMF, grafana/rmf-app).
"""

from __future__ import annotations

import base64
import json
import ssl
import subprocess
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from counterflow.stack.settings import StackSettings
from tests.support.ports import free_ports
from tests.support.web import Request, serving

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

    def server_context(self) -> ssl.SSLContext:
        """Return the TLS of a server with the certificate."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.certificate, self.key)
        return context

    def over_tls(self, settings: StackSettings) -> StackSettings:
        """Return settings of the same stack, whose Kafka and ClickHouse speak TLS alone."""
        plain = settings.model_dump(exclude={"kafka_bootstrap", "clickhouse_url"})
        return StackSettings(**plain | {"tls_certificate": self.together, "tls_ca": self.authority})


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
        self.clients: set[tuple[str, int]] = set()
        [self.port] = free_ports(1)
        self._running: ExitStack | None = None
        self.start()

    @property
    def url(self) -> str:
        return f"{'https' if self.authority else 'http'}://127.0.0.1:{self.port}"

    def start(self) -> None:
        self._running = ExitStack()
        tls = self.authority and self.authority.server_context()
        self._running.enter_context(serving(self.answer, self.port, tls, "HTTP/1.1"))

    def stop(self) -> None:
        running, self._running = self._running, None
        if running is not None:
            running.close()

    def answer(self, request: Request) -> None:
        if self._running is None:
            raise ConnectionAbortedError("the server has stopped, and hangs up")
        self.clients.add(request.client_address)
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
        request.reply(status, body, Content_Type=self.content_type if status == 200 else "text/html")

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
