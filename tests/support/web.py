"""Web servers on 127.0.0.1, whose answers are a function of the request."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ssl import SSLContext
from typing import Any, NamedTuple


class Request(BaseHTTPRequestHandler):
    """A request, and the means to answer it; it prints nothing."""

    def body(self) -> bytes:
        return self.rfile.read(int(self.headers["Content-Length"]))

    def reply(self, status: int, body: bytes = b"", **headers: str) -> None:
        """Answer with a body, its length, and other headers, such as `Content_Type`."""
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Print nothing."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def handle_error(self, *_: object) -> None:
        """A client may hang up midway."""


@contextmanager
def serving(
    answer: Callable[[Request], None], port: int = 0, tls: SSLContext | None = None, protocol: str = "HTTP/1.0"
) -> Iterator[str]:
    """Answer each GET and POST by a function while the context lasts, and yield the address."""

    class Answered(Request):
        protocol_version = protocol

        def do_GET(self) -> None:
            answer(self)

        def do_POST(self) -> None:
            answer(self)

    with _Server(("127.0.0.1", port), Answered) as server:
        if tls:
            server.socket = tls.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        try:
            yield f"{'https' if tls else 'http'}://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()


@contextmanager
def served(answer: Callable[[str], bytes | None]) -> Iterator[str]:
    """Serve while the context lasts, and yield the address; what the function answers by None is 503."""

    def answered(request: Request) -> None:
        body = answer(request.path)
        request.reply(503) if body is None else request.reply(200, body)

    with serving(answered) as url:
        yield url


class Post(NamedTuple):
    """A request that was posted."""

    path: str
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Any:
        """Return the content of a body of JSON."""
        return json.loads(self.body)


@contextmanager
def receiving(port: int = 0) -> Iterator[tuple[str, list[Post]]]:
    """Accept every post while the context lasts; yield the address, and a list that grows by each."""
    found: list[Post] = []

    def received(request: Request) -> None:
        found.append(Post(request.path, request.headers, request.body()))
        request.reply(202)

    with serving(received, port) as url:
        yield url, found
