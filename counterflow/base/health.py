"""The health endpoint of each process: `/metrics`, and `/healthz` with the current problems.

It listens on 127.0.0.1, or on the address in COUNTERFLOW_METRICS_ADDRESS. There it requires TLS and a client
certificate; a client without one learns from `/healthz` only whether there is a problem.
"""

from __future__ import annotations

import os
import ssl
import threading
from collections.abc import Callable, Iterable
from socket import socket
from typing import cast
from wsgiref.simple_server import WSGIRequestHandler, make_server

from prometheus_client import CollectorRegistry, make_wsgi_app
from prometheus_client.exposition import ThreadingWSGIServer

from counterflow.base.errors import CounterflowError
from counterflow.base.loopback import is_loopback

_PATHS = {"/healthz", "/health"}
_KNOWN = "counterflow.known"
_PREFIX = "COUNTERFLOW_METRICS_"

VARIABLES = tuple(f"{_PREFIX}{name}" for name in ("ADDRESS", "CERTIFICATE", "CLIENT_CA", "PLAIN"))
"""Environment variables: address, own certificate, accepted CA, and 1 for plain HTTP on an isolated network."""

Problems = Callable[[], Iterable[str]]
"""Returns the current problems, a sentence each; called from a separate thread."""


def serve(port: int, registry: CollectorRegistry, problems: Problems) -> None:
    """Serve in a separate thread.

    `/metrics` exposes `registry`. `/healthz` is `ok` with status 200, or one problem per line with status 503.

    Raises
    ------
    CounterflowError : the port is taken; or other machines could connect, and client authentication is not configured.
    """
    address = os.environ.get(f"{_PREFIX}ADDRESS") or "127.0.0.1"
    trust = _trust(address)
    metrics = make_wsgi_app(registry)

    def app(environ: dict[str, object], start_response: Callable[..., object]) -> Iterable[bytes]:
        known = trust is None or bool(environ[_KNOWN])
        if environ["PATH_INFO"] in _PATHS:
            found = sorted(problems())
            status = "503 Service Unavailable" if found else "200 OK"
            lines = (found if known else ["unhealthy"]) if found else ["ok"]
        elif known:
            return cast("Iterable[bytes]", metrics(environ, start_response))
        else:
            status, lines = "403 Forbidden", ["client certificate required"]
        start_response(status, [("Content-Type", "text/plain; charset=utf-8"), ("Cache-Control", "no-store")])
        return ["".join(f"{line}\n" for line in lines).encode()]

    try:
        server = make_server(address, port, app, _Server, _Handler)
    except OSError as error:
        raise CounterflowError(
            f"{address}:{port} cannot be listened on: {error.strerror}",
            hint="choose another port: `metrics_port` of an agent, --metrics-port of a part of the line",
            exit_code=2,
        ) from None
    server.trust = trust
    threading.Thread(target=server.serve_forever, name="health", daemon=True).start()


def _trust(address: str) -> ssl.SSLContext | None:
    """Return the TLS context that authenticates clients; None where every client is accepted."""
    certificate, authority = (os.environ.get(f"{_PREFIX}{name}") for name in ("CERTIFICATE", "CLIENT_CA"))
    if not (certificate and authority):
        if is_loopback(address) or os.environ.get(f"{_PREFIX}PLAIN") == "1":
            return None
        raise CounterflowError(
            f"{_PREFIX}ADDRESS is {address}, which other machines can reach: "
            f"it needs {_PREFIX}CERTIFICATE and {_PREFIX}CLIENT_CA for mutual TLS",
            hint="docs/security.md describes how to make them; on 127.0.0.1 neither is needed",
            exit_code=2,
        )
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.verify_mode = ssl.CERT_OPTIONAL  # a certificate is verified if presented
    try:
        context.load_cert_chain(certificate)
        context.load_verify_locations(authority)
    except OSError as error:  # ssl.SSLError is one
        raise CounterflowError(
            f"{certificate} with {authority}: {error.strerror or error}",
            hint="both are PEM files; the first holds the private key and the certificate",
            exit_code=2,
        ) from None
    return context


class _Server(ThreadingWSGIServer):
    trust: ssl.SSLContext | None = None

    def finish_request(self, request: socket | tuple[bytes, socket], client_address: object) -> None:
        """Do the TLS handshake in the request's own thread, so a silent client blocks no other."""
        if self.trust is None or not isinstance(request, socket):
            super().finish_request(request, client_address)
            return
        request.settimeout(30)
        with self.trust.wrap_socket(request, server_side=True) as greeted:
            super().finish_request(greeted, client_address)

    def handle_error(self, request: object, client_address: object) -> None:
        """Log nothing for a rejected or disconnected client."""


class _Handler(WSGIRequestHandler):
    def get_environ(self) -> dict[str, object]:
        """Add whether the client presented a certificate."""
        shown = isinstance(self.connection, ssl.SSLSocket) and self.connection.getpeercert()
        return {**super().get_environ(), _KNOWN: bool(shown)}

    def log_message(self, format: str, *args: object) -> None:
        """Log no requests."""
