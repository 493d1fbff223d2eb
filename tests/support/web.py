"""Web servers on 127.0.0.1: one that answers GET by a function of the path, and one that keeps what is posted."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple


class _Handler(BaseHTTPRequestHandler):
    def reply(self, status: int, body: bytes = b"") -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Print nothing."""


@contextmanager
def _serving(handler: type[_Handler], port: int = 0) -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", port), handler) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()


@contextmanager
def served(answer: Callable[[str], bytes | None]) -> Iterator[str]:
    """Serve while the context lasts, and yield the address; what the function answers by None is 503."""

    class Handler(_Handler):
        def do_GET(self) -> None:
            body = answer(self.path)
            self.reply(503) if body is None else self.reply(200, body)

    with _serving(Handler) as url:
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

    class Handler(_Handler):
        def do_POST(self) -> None:
            found.append(Post(self.path, self.headers, self.rfile.read(int(self.headers["Content-Length"]))))
            self.reply(202)

    with _serving(Handler, port) as url:
        yield url, found
