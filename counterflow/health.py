"""What a process of ours says of itself: `/metrics`, and `/healthz` with what is wrong.

It answers on 127.0.0.1, or on the address that COUNTERFLOW_METRICS_ADDRESS names: in a pod, those who ask are outside.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable
from typing import cast
from wsgiref.simple_server import WSGIRequestHandler, make_server

from prometheus_client import CollectorRegistry, make_wsgi_app
from prometheus_client.exposition import ThreadingWSGIServer

_PATHS = {"/healthz", "/health"}

Problems = Callable[[], Iterable[str]]
"""Says what is wrong now, a sentence each; asked in a thread of its own."""


def serve(port: int, registry: CollectorRegistry, problems: Problems) -> None:
    """Answer in a thread of its own.

    `/metrics` is what `registry` holds. `/healthz` is `ok` with status 200, or a problem a line with status 503. Raises
    `OSError` where the port is taken.
    """
    metrics = make_wsgi_app(registry)

    def app(environ: dict[str, object], start_response: Callable[..., object]) -> Iterable[bytes]:
        if environ["PATH_INFO"] not in _PATHS:
            return cast("Iterable[bytes]", metrics(environ, start_response))
        found = sorted(problems())
        status = "503 Service Unavailable" if found else "200 OK"
        start_response(status, [("Content-Type", "text/plain; charset=utf-8"), ("Cache-Control", "no-store")])
        return ["".join(f"{line}\n" for line in found or ["ok"]).encode()]

    address = os.environ.get("COUNTERFLOW_METRICS_ADDRESS", "127.0.0.1")
    server = make_server(address, port, app, ThreadingWSGIServer, _Silent)
    threading.Thread(target=server.serve_forever, name="health", daemon=True).start()


class _Silent(WSGIRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """Write no line a request."""
